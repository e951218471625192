"""Scores over numbers of training examples, and what one group gains over another: tables, figures and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.results.comparisons import rows_of
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, seed_scores
from mtlspec.results.figures import Line, curves
from mtlspec.results.findings import Figure
from mtlspec.results.inference import Difference, Family, compare_pairs, corrected, resample_pairs
from mtlspec.results.tables import Cell, Row, Table, interval_text, score_text, signed, tone_of_change
from mtlspec.results.variants import Variant

EXAMPLES = "train.examples"
_ENOUGH = 30


@dataclass(frozen=True)
class Asked:
    """The options of the analysis."""

    baseline: str | None
    alpha: float
    holm: bool
    rounds: int | None  # of the bootstrap; None: the default test
    seed: int


@dataclass(frozen=True)
class Shot:
    """A model of one size: its scores on one task by seed; `way` is its group and what else is swept."""

    task: str
    way: str
    group: str
    examples: int | None  # None: not swept over
    scores: Mapping[int, float]
    variant: Variant


@dataclass(frozen=True)
class Comparison:
    """A model against the baseline's of the same task and size, on the seeds that both have."""

    shot: Shot
    baseline: Shot
    found: Difference
    p: float | None  # corrected, if that was asked for
    significant: bool


@dataclass(frozen=True)
class Found:
    """Everything that the tables show."""

    shots: tuple[Shot, ...]
    metrics: Mapping[str, str]
    baseline: str
    comparisons: tuple[Comparison, ...]
    family: Family
    asked: Asked

    @property
    def sizes(self) -> list[int | None]:
        sizes = {shot.examples for shot in self.shots}
        return [*sorted(size for size in sizes if size is not None), *([None] if None in sizes else [])]

    @property
    def significant(self) -> int:
        return sum(one.significant for one in self.comparisons)

    def comparison(self, shot: Shot) -> Comparison | None:
        return next((one for one in self.comparisons if one.shot is shot), None)


def find(models: Sequence[Variant], evaluations: Evaluations, asked: Asked) -> Found:
    """Scores of all models with a test score, and their comparisons."""
    shots = tuple(_shots(models, evaluations))
    metrics = {task: evaluations[v.runs[0].evaluate].main(task) for v in models for task in v.learnt}
    baseline = asked.baseline or next((shot.group for shot in shots), "")
    pairs = [(shot, other) for shot in shots if (other := _baseline_of(shot, baseline, shots)) is not None]
    raw = [_difference(shot, other, evaluations, asked) for shot, other in pairs]
    others = dict.fromkeys(shot.group for shot, _ in pairs)
    family, adjusted = corrected(f"{', '.join(others)} with {baseline}", [one.p for one in raw], asked.alpha)
    comparisons = []
    for (shot, other), found, corrected_p in zip(pairs, raw, adjusted, strict=True):
        p = corrected_p if asked.holm else found.p
        comparisons.append(Comparison(shot, other, found, p, p is not None and p < asked.alpha))
    return Found(shots, metrics, baseline, tuple(comparisons), family, asked)


def _shots(models: Sequence[Variant], evaluations: Evaluations) -> Iterator[Shot]:
    for variant in models:
        size = next((value for key, value in variant.sweep if key == EXAMPLES), None)
        rest = tuple(pair for pair in variant.sweep if pair[0] != EXAMPLES)
        way = f"{variant.group}{Variant(variant.group, variant.tasks, rest, variant.runs).point}"
        for task in variant.learnt:
            scores = seed_scores(variant, task, evaluations)
            if scores:
                yield Shot(task, way, variant.group, size, dict(zip(variant.seeds, scores, strict=True)), variant)


def _baseline_of(shot: Shot, baseline: str, among: Sequence[Shot]) -> Shot | None:
    """The baseline's model of the same task and size; where it is swept otherwise, too, the one of the same values."""
    if shot.group == baseline:
        return None
    same = [o for o in among if o.group == baseline and (o.task, o.examples) == (shot.task, shot.examples)]
    alike = [other for other in same if other.variant.sweep == shot.variant.sweep]
    chosen = alike or same
    return chosen[0] if len(chosen) == 1 and set(chosen[0].scores) & set(shot.scores) else None


def _difference(shot: Shot, other: Shot, evaluations: Evaluations, asked: Asked) -> Difference:
    seeds = tuple(seed for seed in shot.scores if seed in other.scores)
    if asked.rounds is not None:
        ours, theirs = ([side.scores[seed] for seed in seeds] for side in (shot, other))
        return resample_pairs(ours, theirs, asked.rounds, asked.seed)
    metric = evaluations[shot.variant.runs[0].evaluate].metric(shot.task)
    return compare_pairs(metric, *(rows_of(side.variant, shot.task, seeds, evaluations) for side in (shot, other)))


def scores_table(found: Found) -> Table:
    """Rows are groups, columns numbers of examples; a section a task."""
    sizes, tasks = found.sizes, dict.fromkeys(shot.task for shot in found.shots)
    sections = []
    for task in tasks:
        ways = dict.fromkeys(shot.way for shot in found.shots if shot.task == task)
        rows = tuple((Cell(way, way), *(_score(found, task, way, size) for size in sizes)) for way in ways)
        sections.append((f"{task} ({found.metrics[task]})", rows))
    caption = (
        f"Test scores in percent, mean ± sample standard deviation over seeds, by training examples.{_star(found)}"
    )
    columns = ("model", *("as the group says" if size is None else str(size) for size in sizes))
    return Table("few_shot", "Scores by training examples", caption, columns, tuple(sections))


def _score(found: Found, task: str, way: str, size: int | None) -> Cell:
    here = [shot for shot in found.shots if (shot.task, shot.way, shot.examples) == (task, way, size)]
    if not here:
        return Cell("–")
    values = list(here[0].scores.values())
    mean, std = mean_and_std(values)
    one = found.comparison(here[0])
    sure = one is not None and one.significant
    tone = tone_of_change(one.found.difference if one is not None else None, sure=sure)
    data = {"n": len(values), "seeds": {str(seed): value for seed, value in here[0].scores.items()}}
    return Cell(score_text(mean, std), mean, std, "*" if sure else "", tone, here[0].variant.slug, data)


def _star(found: Found) -> str:
    if not found.comparisons:
        return ""
    words = found.family.words if found.asked.holm else "not corrected for the number of comparisons"
    rounds = found.asked.rounds
    test = (
        "paired test over seeds and test examples"
        if rounds is None
        else f"paired bootstrap over seeds, {rounds} rounds, for these test examples"
    )
    told = f" * differs from {found.baseline}, blue above and red below (p < {found.asked.alpha:g}; {test}; {words})."
    return told + _given(found)


def _given(found: Found) -> str:
    """What the test takes as given, where all runs of a side start from one model, and where it has few runs."""
    few = ""
    if found.asked.rounds is not None and min(min(one.found.seeds) for one in found.comparisons) < _ENOUGH:
        few = f" With fewer than {_ENOUGH} pairs of seeds a bootstrap finds differences too easily."
    one = next((c for c in found.comparisons if c.shot.variant.shared_starts or c.baseline.variant.shared_starts), None)
    if one is None:
        return few
    return few + (
        " Runs that start from one trained model share its luck: the test is then of these trained models, not of the "
        "ways in which they were trained."
    )


def comparisons_tables(found: Found) -> tuple[Table, ...]:
    """One table, or none where nothing is compared."""
    if not found.comparisons:
        return ()
    rows: list[Row] = []
    for one in found.comparisons:
        size = "–" if one.shot.examples is None else str(one.shot.examples)
        rows.append(
            (
                Cell(one.shot.way, one.shot.way),
                Cell(one.shot.task, one.shot.task),
                Cell(size, one.shot.examples),
                Cell(signed(one.found.difference), one.found.difference),
                Cell(interval_text(one.found.interval), data={"interval": one.found.interval}),
                _p(one.found.p),
                _p(one.p),
                Cell(str(one.found.seeds[0]), one.found.seeds[0]),
            )
        )
    caption = f"Differences to {found.baseline} in points, on the seeds that both have.{_star(found)}"
    told = "p (Holm)" if found.asked.holm else "p that counts"
    columns = ("model", "task", "examples", "difference", "95 % interval", "p", told, "pairs of seeds")
    return (Table("comparisons", "Paired differences", caption, columns, (("", tuple(rows)),)),)


def _p(value: float | None) -> Cell:
    return Cell("–") if value is None else Cell("< 0.001" if value < 0.001 else f"{value:.3f}", value)


def draw(found: Found, directory: Path) -> tuple[Figure, ...]:
    """Curves over the number of examples, a figure a task; none where there are no two sizes."""
    figures = []
    for task in dict.fromkeys(shot.task for shot in found.shots):
        lines = []
        for way in dict.fromkeys(shot.way for shot in found.shots if shot.task == task):
            own = [s for s in found.shots if (s.task, s.way) == (task, way) and s.examples is not None]
            if len(own) > 1:
                lines.append(_line(way, sorted(own, key=lambda shot: shot.examples or 0)))
        if lines:
            name = f"few_shot_{task}"
            curves(directory, name, lines, x_title="training examples", y_title=found.metrics[task])
            caption = "Mean over seeds; the band is one standard deviation of a run to either side."
            figures.append(Figure(name, f"{task} by training examples", caption))
    return tuple(figures)


def _line(way: str, shots: Sequence[Shot]) -> Line:
    found = [mean_and_std(list(shot.scores.values())) for shot in shots]
    means = np.array([mean for mean, _ in found])
    spread = np.array([std or 0.0 for _, std in found])
    sizes = np.array([shot.examples for shot in shots], np.float64)
    return Line(way, sizes, means, means - spread, means + spread)


def summary(found: Found) -> tuple[str, ...]:
    if not found.comparisons:
        return (
            f"No model has one of {found.baseline or 'another group'} with the same task, size and seed beside it.",
        )
    sentences = []
    for way in dict.fromkeys(one.shot.way for one in found.comparisons):
        own = [one for one in found.comparisons if one.shot.way == way]
        above = sum(one.significant and one.found.difference > 0 for one in own)
        below = sum(one.significant and one.found.difference < 0 for one in own)
        mean = float(np.mean([one.found.difference for one in own]))
        text = f"{way} is above {found.baseline} in {above} and below in {below} of {len(own)} comparisons"
        sentences.append(f"{text} (p < {found.asked.alpha:g}); {signed(mean)} points on average.")
    return tuple(sentences)


def numbers(found: Found) -> Mapping[str, Any]:
    tests = [
        {
            "model": one.shot.way,
            "task": one.shot.task,
            "examples": one.shot.examples,
            "found": one.found.stored(),
            "p_that_counts": one.p,
        }
        for one in found.comparisons
    ]
    return {"baseline": found.baseline, "alpha": found.asked.alpha, "tests": tests}
