"""What pruned models lose, and beside what: the same training without gates, as far as an analysis has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.analyses._pruning_cost import COUNTS, FILE
from mtlspec.metrics.metric import Metric, Rows
from mtlspec.metrics.rebuild import rebuild_metric
from mtlspec.results.comparisons import with_equal_starts
from mtlspec.results.inference import Difference, compare_runs
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.lengths import Lengths, Times, but_unequal, read_lengths, times
from mtlspec.results.variants import Variant, baseline_for, variants

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


@dataclass(frozen=True)
class Loss:
    """A pruned model on one task less what it is compared with."""

    group: str
    against: str  # a group
    found: Difference
    times: Times  # as long it was trained
    joint: bool  # whether several tasks are compared with one: what joint training costs is in it, too
    whole: bool  # whether it is compared with the joint model of the same tasks


def losses_of(rows: Sequence[Pruned], baseline: str) -> dict[Place, Loss]:
    """The losses of gated models that have something to be compared with, a model's tasks one by one."""
    places = [(row, task) for row in rows if row.gated for task in row.variant.tasks]
    found = {(row.variant.slug, task): _loss(row, task, rows, baseline) for row, task in places}
    return {place: loss for place, loss in found.items() if loss is not None}


def of_group(group: str, losses: Mapping[Place, Loss]) -> list[Loss]:
    return [loss for loss in losses.values() if loss.group == group]


def family_name(losses: Mapping[Place, Loss]) -> str:
    groups = dict.fromkeys(loss.group for loss in losses.values())
    return f"{', '.join(groups)} with {', '.join(dict.fromkeys(loss.against for loss in losses.values()))}"


def _loss(row: Pruned, task: str, rows: Sequence[Pruned], baseline: str) -> Loss | None:
    """The pruned score less that of the whole model or of the single-task one; None if there is neither."""
    variant = row.variant
    single = baseline_for(variant, task, baseline, [other.variant for other in rows])
    same = _whole(row, task, rows) if variant.group != baseline else None
    whole = same or next((other for other in rows if other.variant is single), None)
    if whole is None or not row.is_scored(task):
        return None
    found = compare_runs(row.metric(task), row.rows(task, "pruned"), whole.rows(task, "masked"))
    told, length = with_equal_starts(found, variant, whole.variant), times(variant, whole.variant, task, row.lengths)
    return Loss(variant.group, whole.variant.group, told, length, _tasks(whole) != _tasks(row), same is not None)


def _whole(row: Pruned, task: str, rows: Sequence[Pruned]) -> Pruned | None:
    """The joint model without gates: the same tasks from the same start; of several, the one that trained as long."""
    if len(_tasks(row)) < 2:
        return None
    found = [
        other
        for other in rows
        if not other.gated
        and _tasks(other) == _tasks(row)
        and _origin(other) == _origin(row)
        and other.variant.sweep in ((), row.variant.sweep)
    ]
    equal = [one for one in found if not but_unequal("", "", [times(row.variant, one.variant, task, row.lengths)])]
    fitting = equal or found
    return fitting[0] if len(fitting) == 1 else None


def _tasks(row: Pruned) -> set[str]:
    return set(row.variant.learnt)


def _origin(row: Pruned) -> dict[int, tuple[str, ...]]:
    """seed -> the trainings that its run descends from"""
    return {run.seed: run.starts for run in row.variant.runs}
