"""Tables, figures and sentences about the heads that gated models use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from mtlspec.analyses._agreement import adjusted_r2, chance, jaccard, pairwise, pearson
from mtlspec.analyses._gates import Gated
from mtlspec.analyses._head_figures import Panel, colour_words, draw_panels, run_colours
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.findings import Figure
from mtlspec.results.inference import Family, corrected
from mtlspec.results.tables import Cell, Table, score_text

_MEASURES = {
    "gate": "its gate in evaluation",
    "p_open": "the probability that its gate is open",
    "expected_z": "the expected value of its gate",
}


@dataclass(frozen=True)
class Chance:
    """How the null model is drawn: heads in a random order within their layers."""

    draws: int
    alpha: float
    seed: int


@dataclass(frozen=True)
class Agreement:
    """How far the runs of one model use the same heads; NaN where there is one run only, or nothing varies."""

    r2: float  # adjusted, of the last run on the others
    r2_chance: float
    r2_p: float
    overlap: float  # mean Jaccard index of kept heads over pairs of runs
    overlap_chance: float
    overlap_p: float


@dataclass(frozen=True)
class Corrected:
    """p values of all models after Holm's correction, each measure a family of its own."""

    r2: tuple[float | None, ...]
    overlap: tuple[float | None, ...]
    families: tuple[Family, Family]

    @classmethod
    def of(cls, agreements: Sequence[Agreement], alpha: float) -> Corrected:
        r2, r2_ps = corrected("adjusted R² of every model's runs", [one.r2_p for one in agreements], alpha)
        overlap, overlap_ps = corrected("overlap of every model's runs", [one.overlap_p for one in agreements], alpha)
        return cls(r2_ps, overlap_ps, (r2, overlap))


def agreement(gated: Gated, null: Chance) -> Agreement:
    def overlap(runs: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        return pairwise(jaccard, runs)

    if len(gated.gates) < 2:
        return Agreement(*[math.nan] * 6)
    return Agreement(
        adjusted_r2(gated.use),
        *chance(adjusted_r2, gated.use, null.draws, null.seed),
        overlap(gated.gates),
        *chance(overlap, gated.gates, null.draws, null.seed + 1),
    )


def correlation_table(gated: Sequence[Gated], agreements: Sequence[Agreement], null: Chance) -> Table:
    """The paper's Table 3."""
    runs = Corrected.of(agreements, null.alpha)
    pairs, between = _pearson_cells(gated, null)
    rows = []
    for i, first in enumerate(gated):
        others = [
            between[min(i, j), max(i, j)] if i != j else _r2_cell(agreements[i], runs.r2[i], null)
            for j in range(len(gated))
        ]
        rows.append((Cell(first.variant.label, first.variant.label), *others))
    caption = (
        "Off the diagonal: Pearson correlation of the utilisation of heads, averaged over runs, between two models. On "
        "the diagonal: adjusted R² of the last run regressed on the others, how well runs predict which heads another "
        f"run uses. {_star((pairs, runs.families[0]), null)}"
    )
    columns = ("model", *(one.variant.label for one in gated))
    return Table("utilisation", "Agreement on heads", caption, columns, (("", tuple(rows)),))


def agreement_table(gated: Sequence[Gated], agreements: Sequence[Agreement], null: Chance) -> Table:
    rows, tested = [], Corrected.of(agreements, null.alpha)
    for one, found, r2, overlap in zip(gated, agreements, tested.r2, tested.overlap, strict=True):
        mean, std = mean_and_std([100 * share for share in one.kept])
        rows.append(
            (
                Cell(one.variant.label, one.variant.label),
                Cell(score_text(mean, std, 1), mean, std, source=_runs(one)),
                _r2_cell(found, r2, null),
                _number(math.sqrt(found.r2) if found.r2 >= 0 else math.nan),
                _number(found.r2_chance),
                Cell(
                    _text(found.overlap),
                    _finite(found.overlap),
                    mark=_mark(overlap, null),
                    data={"p": _finite(found.overlap_p), "p_holm": overlap},
                ),
                _number(found.overlap_chance),
            )
        )
    caption = (
        "How far the runs of one model use the same heads: adjusted R² of the last run on the others, its square root "
        "(which the released code of the stem cell study prints under the same name), and the Jaccard index of kept "
        "heads over pairs of runs; beside each, what heads shuffled within their layers give on average. Runs agree "
        f"where a figure is starred and well above its chance. {_star(tested.families, null)}"
    )
    columns = ("model", "heads kept, %", "adjusted R²", "√ adjusted R²", "R² by chance", "overlap", "overlap by chance")
    return Table("agreement", "Agreement of runs", caption, columns, (("", tuple(rows)),))


def overlap_table(gated: Sequence[Gated]) -> Table:
    """Between models, all pairs of their runs."""
    rows = []
    for first in gated:
        cells = [Cell(first.variant.label, first.variant.label)]
        for second in gated:
            if first is second:
                value = pairwise(jaccard, first.gates)
            else:
                value = float(np.mean([jaccard(a, b) for a in first.gates for b in second.gates]))
            cells.append(_number(value))
        rows.append(tuple(cells))
    caption = (
        "Jaccard index of the sets of kept heads (1: the same heads, 0: none in common), mean over all pairs of runs. "
        "Where a row's largest value is off the diagonal, two models resemble each other more than their own runs do."
    )
    columns = ("model", *(one.variant.label for one in gated))
    return Table("overlap", "Overlap of kept heads", caption, columns, (("", tuple(rows)),))


def draw(gated: Sequence[Gated], measure: str, directory: Path) -> tuple[Figure, ...]:
    """The paper's Figure 1: a coloured map of every model, and their grey average."""
    panels = [Panel(one.variant.label, run_colours(one.use)) for one in gated]
    draw_panels(directory, "utilisation", panels, limits=(0.0, 1.0))
    single = [one for one in gated if len(one.variant.tasks) == 1] or list(gated)
    average = np.mean([one.use.mean(0) for one in single], axis=0)
    draw_panels(directory, "average", [Panel("average", average)], limits=(0.0, 1.0))
    runs = len(gated[0].use)
    colours = f"A cell is a head, dark where it is used: {_MEASURES[measure]}. {colour_words(runs)}" + (
        " Maps without colours mean that runs agree." if runs > 1 else ""
    )
    tasks = "single-task models" if single[0].variant.tasks[1:] == () else "models"
    shared = f"Utilisation averaged over all {tasks} and runs. A black cell is a head that every task uses."
    return (
        Figure("utilisation", "Utilisation of heads by runs", colours),
        Figure("average", "Heads that tasks have in common", shared),
    )


def summary(gated: Sequence[Gated], agreements: Sequence[Agreement], null: Chance) -> tuple[str, ...]:
    kept = [(100 * float(np.mean(one.kept)), one.variant.label) for one in gated]
    most, least = max(kept), min(kept)
    if len(kept) == 1:
        sentences = [f"{most[1]} keeps {most[0]:.0f} % of its heads."]
    elif f"{least[0]:.0f}" == f"{most[0]:.0f}":
        sentences = [f"Each of {len(kept)} models keeps {most[0]:.0f} % of its heads."]
    else:
        sentences = [f"Of their heads, models keep from {least[0]:.0f} % ({least[1]}) to {most[0]:.0f} % ({most[1]})."]
    if len(gated[0].variant.runs) < 2:
        return (*sentences, "With one seed, nothing can be said about the agreement of runs.")
    tested, labels = Corrected.of(agreements, null.alpha), [one.variant.label for one in gated]
    overlap, r2 = (dict(zip(labels, ps, strict=True)) for ps in (tested.overlap, tested.r2))
    sentences.append(_beyond_chance("Runs keep the same heads (overlap)", overlap, null.alpha))
    sentences.append(_beyond_chance("Runs predict how much another run uses a head (adjusted R²)", r2, null.alpha))
    return tuple(sentences)


def _beyond_chance(what: str, found: Mapping[str, float | None], alpha: float) -> str:
    """`found` is the corrected p value of every model; None where a measure is not defined."""
    defined = {label: p for label, p in found.items() if p is not None}
    agreeing = [label for label, p in defined.items() if p < alpha]
    undefined = f" (not defined in {len(found) - len(defined)})" if len(defined) < len(found) else ""
    if not agreeing:
        return f"{what} beyond what shuffled heads give in none of {len(found)} models{undefined}."
    return (
        f"{what} beyond what shuffled heads give in {len(agreeing)} of {len(found)} models{undefined}: "
        f"{', '.join(agreeing)}."
    )


def _r2_cell(found: Agreement, p_holm: float | None, null: Chance) -> Cell:
    data = {"chance": _finite(found.r2_chance), "p": _finite(found.r2_p), "p_holm": p_holm}
    return Cell(_text(found.r2), _finite(found.r2), mark=_mark(p_holm, null), data=data)


def _pearson_cells(gated: Sequence[Gated], null: Chance) -> tuple[Family, dict[tuple[int, int], Cell]]:
    """Of all pairs of models, corrected together."""
    places, values, ps = list(combinations(range(len(gated)), 2)), [], []
    for i, j in places:
        means = np.stack([gated[i].use.mean(0), gated[j].use.mean(0)])
        values.append(pearson(*means))
        ps.append(chance(lambda pair: pearson(pair[0], pair[1]), means, null.draws, null.seed)[1])
    family, adjusted = corrected("pairs of models", ps, null.alpha)
    return family, {
        place: Cell(_text(value), _finite(value), mark=_mark(after, null), data={"p": _finite(p), "p_holm": after})
        for place, value, p, after in zip(places, values, ps, adjusted, strict=True)
    }


def _star(families: Sequence[Family], null: Chance) -> str:
    """What a star says; and whether the draws are too few for any."""
    words = "; ".join(family.words for family in families if family.size)
    if not words:
        return "Nothing could be tested."
    said = (
        f"A star: shuffling heads within their layers ({null.draws} draws) reaches it with p < {null.alpha:g}; {words}."
    )
    most = max(family.size for family in families)
    if most / (1 + null.draws) >= null.alpha:
        said += f" So few draws cannot pass that correction; set `draws` to {math.ceil(most / null.alpha)} at least."
    return said


def _number(value: float) -> Cell:
    return Cell(_text(value), _finite(value))


def _text(value: float) -> str:
    return f"{value:.2f}".replace("-", "−") if math.isfinite(value) else "–"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _mark(p: float | None, null: Chance) -> str:
    return "*" if p is not None and p < null.alpha else ""


def _runs(gated: Gated) -> str:
    return f"{gated.variant.slug}, seeds {', '.join(map(str, gated.variant.seeds))}"
