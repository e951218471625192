"""The table, the figure and the sentences of pruning."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.analyses._head_figures import layer_map
from mtlspec.analyses._pruning_cost import COUNTS, FILE
from mtlspec.metrics.metric import Metric, Rows
from mtlspec.metrics.rebuild import rebuild_metric
from mtlspec.results.comparisons import with_equal_starts
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import unscored_words
from mtlspec.results.findings import Figure
from mtlspec.results.inference import LEVEL, MARGIN, Difference, Family, compare_runs, corrected, loss_words
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.lengths import ABOUT, Lengths, Times, but_unequal, read_lengths, task_cells, times
from mtlspec.results.tables import Cell, Table, interval_text, score_text, signed, tone_of_change
from mtlspec.results.variants import Variant, baseline_for, control_words, variants, why_no_baseline

_NOTHING = Cell("–")
Place = tuple[str, str]
"""A model without its seeds, and a task."""


@dataclass(frozen=True)
class Pruned:
    """A model and what was measured of each run."""

    variant: Variant
    runs: tuple[Mapping[str, Any], ...]
    counts: tuple[Mapping[str, Rows], ...]  # `<form>/<task>` -> rows of the task's metric, per run
    lengths: Lengths  # of the training of all models

    @property
    def gated(self) -> bool:
        return bool(self.runs[0]["gated"])

    @property
    def kept(self) -> list[float]:
        """Percentage of heads, per run."""
        return [100 * float(run["share"]) for run in self.runs]

    def scores(self, task: str, form: str) -> list[float]:
        """Main scores, per run; none where test has no labels."""
        return [run["tasks"][task][form][run["tasks"][task]["main"]] for run in self.runs if self.is_scored(task)]

    def rows(self, task: str, form: str) -> list[Rows]:
        return [counts[f"{form}/{task}"] for counts in self.counts]

    def metric(self, task: str) -> Metric:
        return rebuild_metric(self.runs[0]["tasks"][task]["metric"])

    def is_scored(self, task: str) -> bool:
        return "masked" in self.runs[0]["tasks"][task]


def read(job: AnalysisJob) -> list[Pruned]:
    made, found = [], variants(job.models)
    lengths = read_lengths(found, job.inputs)
    for variant in found:
        places = [job.measurement(run) for run in variant.runs]
        runs = tuple(json.loads((place / FILE).read_bytes()) for place in places)
        made.append(Pruned(variant, runs, tuple(_counts(place / COUNTS) for place in places), lengths))
    return made


def _counts(path: Path) -> dict[str, Rows]:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def pruning_table(rows: Sequence[Pruned], baseline: str) -> Table:
    """The paper's Table 2, a section for every task."""
    tasks = list(dict.fromkeys(task for row in rows for task in row.variant.tasks))
    losses = _losses(rows, baseline)
    family, adjusted = corrected(_family_name(losses), [loss.found.p for loss in losses.values()], LEVEL)
    sure = {place for place, p in zip(losses, adjusted, strict=True) if p is not None and p < LEVEL}
    sections = tuple(
        (task, tuple(_line(row, task, losses, sure) for row in rows if task in row.variant.tasks)) for task in tasks
    )
    caption = (
        "Test scores with closed heads masked, and with the same heads removed from the network and fractional gates "
        f"folded into its weights: the two must not differ. {_about_delta(rows, losses, baseline, family)} "
        "Work: multiply-adds of the encoder on the test set, relative to the whole encoder, feed-forward blocks "
        "included. Difference: the largest one between the states of the masked and the pruned encoder. A model is "
        f"worth its pruning if Δ is near zero and the share of heads is small. {ABOUT}"
    )
    if unscored := _unscored(rows):
        caption += f" –: {unscored_words(unscored)}; predictions are compared, nothing is scored."
    columns = (
        "model",
        "masked",
        "pruned",
        "Δ",
        "95 % interval",
        "heads kept, %",
        "work, %",
        "difference",
        "changed predictions",
        "updates",
        "examples",
    )
    return Table("pruning", "Pruned models", caption, columns, sections)


def _unscored(rows: Sequence[Pruned]) -> dict[str, str]:
    """Tasks without a test score -> why their labels give none, or nothing where they have none."""
    pairs = [(task, row) for row in rows for task in row.variant.tasks]
    return {
        task: str(row.runs[0]["tasks"][task].get("undefined", "")) for task, row in pairs if not row.is_scored(task)
    }


def _about_delta(rows: Sequence[Pruned], losses: Mapping[Place, Loss], baseline: str, family: Family) -> str:
    if not losses:
        return f"Δ is empty: {why_no_baseline(baseline, [row.variant for row in rows])}."
    gated = any(row.gated for row in rows if row.variant.group == baseline)
    itself = ", which has gates itself and is taken with closed heads masked" if gated else ""
    pairs = dict.fromkeys((loss.group, loss.against) for loss in losses.values() if loss.against != baseline)
    return (
        f"Δ is the difference of the pruned score to the single-task model of {baseline}{itself}."
        + "".join(control_words(*pair) for pair in pairs)
        + " Its interval has the variance of seeds and of sentences; a score is kept if it excludes a loss of more "
        f"than {MARGIN:g} point. Δ is blue (above) or red (below) if it is told from zero at {100 * LEVEL:g} % "
        f"({family.words})."
    )


def _losses(rows: Sequence[Pruned], baseline: str) -> dict[Place, Loss]:
    """The losses of gated models that have something to be compared with, a model's tasks one by one."""
    places = [(row, task) for row in rows if row.gated for task in row.variant.tasks]
    found = {(row.variant.slug, task): _loss(row, task, rows, baseline) for row, task in places}
    return {place: loss for place, loss in found.items() if loss is not None}


def _of_group(group: str, losses: Mapping[Place, Loss]) -> list[Loss]:
    return [loss for loss in losses.values() if loss.group == group]


def _family_name(losses: Mapping[Place, Loss]) -> str:
    groups = dict.fromkeys(loss.group for loss in losses.values())
    return f"{', '.join(groups)} with {', '.join(dict.fromkeys(loss.against for loss in losses.values()))}"


def _line(row: Pruned, task: str, losses: Mapping[Place, Loss], sure: Container[Place]) -> tuple[Cell, ...]:
    variant = row.variant
    source = f"{variant.slug}, seeds {', '.join(map(str, variant.seeds))}"
    first = (Cell(variant.label, variant.label), _mean(row.scores(task, "masked"), 2, source))
    length = task_cells(variant, task, row.lengths)
    if not row.gated:
        kept = _mean(row.kept, 1, source)
        return (*first, _NOTHING, _NOTHING, _NOTHING, kept, _NOTHING, _NOTHING, _NOTHING, *length)
    changed = sum(run["changed_predictions"][task] for run in row.runs)
    worst = max(run["max_difference"] for run in row.runs)
    return (
        *first,
        _mean(row.scores(task, "pruned"), 2, source),
        *_delta((variant.slug, task), losses, sure),
        _mean(row.kept, 1, source),
        _mean([100 * run["multiply_adds"] for run in row.runs], 1, source),
        Cell(f"{worst:.0e}".replace("-", "−"), worst),
        Cell(str(changed), changed),
        *length,
    )


def _mean(values: Sequence[float], digits: int, source: str) -> Cell:
    if not values:
        return Cell("–", source=source)
    mean, std = mean_and_std(values)
    return Cell(score_text(mean, std, digits), mean, std, source=source)


def _delta(place: Place, losses: Mapping[Place, Loss], sure: Container[Place]) -> tuple[Cell, Cell]:
    lost = losses.get(place)
    if lost is None:
        return _NOTHING, _NOTHING
    found, loss = lost.found, lost.found.difference
    tone = tone_of_change(loss, sure=place in sure)
    within: dict[str, Any] = {"interval": found.interval, "p": found.p, f"within {MARGIN:g}": found.not_worse(MARGIN)}
    within |= {"against": lost.against, "times": lost.times._asdict()}
    return Cell(signed(loss), loss, tone=tone), Cell(interval_text(found.interval), data=within)


@dataclass(frozen=True)
class Loss:
    """A pruned model on one task less what it is compared with."""

    group: str
    against: str  # a group
    found: Difference
    times: Times  # as long it was trained


def _loss(row: Pruned, task: str, rows: Sequence[Pruned], baseline: str) -> Loss | None:
    """The pruned score less that of the control or of the whole single-task model; None if there is neither."""
    against = baseline_for(row.variant, task, baseline, [other.variant for other in rows])
    whole = next((other for other in rows if other.variant is against), None)
    if whole is None or not row.is_scored(task):
        return None
    found = compare_runs(row.metric(task), row.rows(task, "pruned"), whole.rows(task, "masked"))
    told = with_equal_starts(found, row.variant, whole.variant)
    return Loss(row.variant.group, whole.variant.group, told, times(row.variant, whole.variant, task, row.lengths))


def draw(rows: Sequence[Pruned], directory: Path) -> tuple[Figure, ...]:
    gated = [row for row in rows if row.gated]
    if not gated:
        return ()
    values = np.array([np.mean([run["share_by_layer"] for run in row.runs], axis=0) for row in gated])
    layer_map(directory, "kept_by_layer", 100 * values, [row.variant.label for row in gated], "heads kept, %")
    caption = (
        "Share of heads that each layer keeps, mean over runs. Dark columns are layers that pruning leaves alone: "
        "light ones the task can do without."
    )
    return (Figure("kept_by_layer", "Heads kept by layer", caption),)


def _price(losses: Sequence[Loss]) -> str:
    """What a group loses; its models are compared with one group, or with several."""
    mean = signed(float(np.mean([loss.found.difference for loss in losses])))
    others = " and ".join(dict.fromkeys(loss.against for loss in losses))
    judged = loss_words([loss.found.not_worse(MARGIN) for loss in losses])
    return f" and scores {mean} points against {others}, on average over models and tasks; {judged}{_unequal(losses)}"


def _unequal(losses: Sequence[Loss]) -> str:
    """The end of a sentence about a group's losses, if it was not trained for as long as what it is compared with."""
    others = " and ".join(dict.fromkeys(loss.against for loss in losses))
    return but_unequal(losses[0].group, others, [loss.times for loss in losses]) if losses else ""


def numbers(rows: Sequence[Pruned], baseline: str) -> dict[str, Any]:
    """Of every gated group: its share of heads in percent, and all of its losses."""
    groups, found = [], _losses(rows, baseline)
    for group in dict.fromkeys(row.variant.group for row in rows if row.gated):
        own = [row for row in rows if row.gated and row.variant.group == group]
        losses = _of_group(group, found)
        groups.append(
            {
                "group": group,
                "kept": _share(own),
                "against": " and ".join(dict.fromkeys(loss.against for loss in losses)),
                "losses": [loss.found.stored() for loss in losses],
                "unequal": _unequal(losses),
            }
        )
    return {"groups": groups}


def _share(rows: Sequence[Pruned]) -> float:
    """The percentage of heads that they keep, on average."""
    return float(np.mean([np.mean(row.kept) for row in rows]))


def summary(rows: Sequence[Pruned], baseline: str) -> tuple[str, ...]:
    gated = [row for row in rows if row.gated]
    if not gated:
        return ("No model has head gates, so nothing was pruned; train groups with `sharing: l0`.",)
    sentences, found = [], _losses(rows, baseline)
    for group in dict.fromkeys(row.variant.group for row in gated):
        own = [row for row in gated if row.variant.group == group]
        told = f"{group} keeps {_share(own):.0f} % of the heads"
        losses = _of_group(group, found)
        sentences.append(f"{told}{_price(losses)}." if losses else f"{told}, on average over models and tasks.")
    if unscored := _unscored(rows):
        words = unscored_words(unscored)
        sentences.append(f"{words[0].upper()}{words[1:]}: there, pruning has no price to be told.")
    scored = any(row.is_scored(task) for row in gated for task in row.variant.tasks)
    if scored and not found:
        why = why_no_baseline(baseline, [row.variant for row in rows])
        sentences.append(f"What pruning costs is not told: {why}.")
    worst = max(run["max_difference"] for row in gated for run in row.runs)
    changed = sum(sum(run["changed_predictions"].values()) for row in gated for run in row.runs)
    sentences.append(
        f"Removing the closed heads for good changed states by at most {worst:.0e}".replace("e-", "e−")
        + f" and {changed} {'prediction' if changed == 1 else 'predictions'}."
    )
    return tuple(sentences)
