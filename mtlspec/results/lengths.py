"""How long models were trained, before their start too, and whether two are compared at equal length.

An update counts for a task if it has examples of it. A model of several tasks whose batches are drawn takes updates for
each of them: its encoder sees them all, a task its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mtlspec.results.tables import Cell, Table
from mtlspec.results.variants import Variant

_NEAR = 1.1  # within a tenth: drawn tasks come a little more or less often than expected
ABOUT = (
    "Updates and examples: all that training took, those of the models that it started from included, mean over seeds."
)


class Seen(NamedTuple):
    """What training had of one task."""

    updates: float  # in which it took part
    examples: float  # that it read
    planned: float  # examples that it would have read, had no training stopped early


class Times(NamedTuple):
    """How many times as long as another model one was trained."""

    updates: float  # of the whole model
    examples: float  # of one task


EQUAL = Times(1.0, 1.0)


@dataclass(frozen=True)
class Length:
    """Of one run or, as means, of several. Trainings that it started from are counted in."""

    updates: float
    planned: float  # updates, had no training stopped early
    before: float  # of the updates, those before its own training began
    tasks: Mapping[str, Seen]

    def times(self, other: Length, task: str, other_task: str | None = None) -> Times:
        """By what was planned: a training that stopped early was given no less. `other_task`: its name there."""
        theirs = other.tasks[other_task or task]
        return Times(_ratio(self.planned, other.planned), _ratio(self.tasks[task].planned, theirs.planned))

    def stored(self) -> dict[str, Any]:
        return {**asdict(self), "tasks": {task: list(seen) for task, seen in self.tasks.items()}}

    @classmethod
    def restored(cls, raw: Mapping[str, Any]) -> Length:
        return cls(**{**raw, "tasks": {task: Seen(*seen) for task, seen in raw["tasks"].items()}})


Lengths = Mapping[str, Length]
"""name of the train stage -> how long it was"""


def read_length(train_artifact: Path) -> Length:
    """Of the chain of trainings in `training.json`, the oldest first."""
    chain = json.loads((train_artifact / "training.json").read_bytes())
    seen: dict[str, Seen] = {}
    for one in chain:
        whole = one["planned"] / max(one["updates"], 1)  # none: it is evaluated as it starts
        for task, own in one["tasks"].items():
            part = (own["updates"], own["examples"], own["examples"] * whole)
            seen[task] = Seen(*(a + b for a, b in zip(seen.get(task, (0, 0, 0)), part, strict=True)))
    updates = [one["updates"] for one in chain]
    return Length(sum(updates), sum(one["planned"] for one in chain), sum(updates[:-1]), seen)


def read_lengths(variants: Iterable[Variant], inputs: Mapping[str, Path]) -> dict[str, Length]:
    """Those of all models; `inputs` are artifacts by the names of their stages."""
    return {run.train: read_length(inputs[run.train]) for variant in variants for run in variant.runs}


def length_of(variant: Variant, lengths: Lengths) -> Length:
    """The mean over the runs of a model."""
    runs = [lengths[run.train] for run in variant.runs]
    tasks = {
        task: Seen(*(_mean(values) for values in zip(*(run.tasks[task] for run in runs), strict=True)))
        for task in variant.learnt
    }
    updates, planned, before = (
        _mean([getattr(run, name) for run in runs]) for name in ("updates", "planned", "before")
    )
    return Length(updates, planned, before, tasks)


def times(variant: Variant, other: Variant, task: str, lengths: Lengths) -> Times:
    ours, theirs = (length_of(side, lengths) for side in (variant, other))
    return ours.times(theirs, task)


def but_unequal(name: str, other: str, found: Sequence[Times]) -> str:
    """`, but stl_sp had 2.0 times the updates of stl`, for the end of a sentence about two groups; mostly nothing."""
    updates, examples = ([getattr(one, part) for one in found] for part in ("updates", "examples"))
    if _are_equal(updates) and _are_equal(examples):
        return ""
    if _are_equal(updates):
        return f", but tasks of {name} read {_span(examples)} times the examples of {other}, in as many updates"
    said = f", but {name} had {_span(updates)} times the updates of {other}"
    if _are_equal(examples):
        return f"{said}, with as many examples of a task"
    return said if _span(updates) == _span(examples) else f"{said}, with {_span(examples)} times the examples of a task"


def _are_equal(found: Sequence[float]) -> bool:
    return all(1 / _NEAR <= one <= _NEAR for one in found)


def _span(found: Sequence[float]) -> str:
    low, high = (f"{one:.1f}" if one >= 1 else f"{one:.2f}" for one in (min(found), max(found)))
    return low if low == high else f"{low} to {high}"


def model_cells(variant: Variant, lengths: Lengths) -> tuple[Cell, Cell]:
    """Updates of a model, and the examples that each of its tasks read."""
    length = length_of(variant, lengths)
    examples = [seen.examples for seen in length.tasks.values()]
    low, high = (f"{round(one):,}" for one in (min(examples), max(examples)))
    text = low if low == high else f"{low} to {high}"
    source = " · ".join(run.train for run in variant.runs)
    told = {task: {"updates": seen.updates, "examples": seen.examples} for task, seen in length.tasks.items()}
    return (
        Cell(f"{round(length.updates):,}", length.updates, source=source, data={"planned": length.planned}),
        Cell(text, _mean(examples), source=source, data=told),
    )


def task_cells(variant: Variant, task: str, lengths: Lengths) -> tuple[Cell, Cell]:
    """The updates that one task of a model took part in, `75 of 375` if others had some, and the examples it read."""
    length = length_of(variant, lengths)
    own, whole = (f"{round(one):,}" for one in (length.tasks[task].updates, length.updates))
    updates, examples, _ = length.tasks[task]
    return (
        Cell(own if own == whole else f"{own} of {whole}", updates, data={"model": length.updates}),
        Cell(f"{round(examples):,}", examples),
    )


def lengths_table(variants: Sequence[Variant], lengths: Lengths) -> Table:
    """One row a model and task."""
    rows = []
    for variant in variants:
        length = length_of(variant, lengths)
        for task, seen in length.tasks.items():
            counts = (length.updates, length.before, seen.updates, seen.examples)
            rows.append(
                (
                    Cell(variant.label, variant.label, source=" · ".join(run.train for run in variant.runs)),
                    Cell(task, task),
                    *(Cell(f"{round(count):,}", count) for count in counts),
                )
            )
    columns = ("model", "task", "updates", "before its start", "with the task", "examples read")
    caption = (
        f"{ABOUT} Before its start: updates of the models that it started from. With the task: updates that had"
        " examples of it; the encoder saw all of them."
    )
    return Table("lengths", "How long models were trained", caption, columns, (("", tuple(rows)),))


def _ratio(ours: float, theirs: float) -> float:
    """One model may have learnt from nothing."""
    return ours / theirs if theirs else math.inf if ours else 1.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
