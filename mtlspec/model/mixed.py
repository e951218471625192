"""Mixed batches: examples of several tasks, and of several corpora, in one pass through the encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor

from mtlspec.data.batching import Batch, collate_parts
from mtlspec.data.prepared import PreparedSplit
from mtlspec.data.transfer import to_device
from mtlspec.model.encoder.states import States
from mtlspec.model.multitask import MultiTaskModel


class Reading(NamedTuple):
    """Examples of one split, rows int64 [n], that one task (an index) reads."""

    task: int
    split: PreparedSplit
    rows: Tensor


class Encoded(NamedTuple):
    """What a task gets of a mixed batch: its own examples, in the order in which it named them.

    Columns that only others fill are gone; `batch.rows` point into `batch.split`, `batch.tasks` are the task itself.
    """

    states: States
    batch: Batch


def encode_parts(model: MultiTaskModel, readings: Sequence[Reading]) -> list[Encoded]:
    """Encode all readings in one forward pass and hand each its own part, on the model's device.

    Where the encoder's output does not depend on the task, an example that several tasks read is encoded once;
    where it does, once for each, and `batch.tasks` tells the strategy which row is for whom. A single reading, or
    several of the very same examples that are encoded once, is exactly the batch that `collate` makes. Gradients flow
    through every part; the model's mode is left as it is.
    """
    if model.sharing.task_free:
        groups, places = _together(readings)
    else:
        groups, places = list(readings), [_Place(number) for number in range(len(readings))]
    batch = collate_parts([(split, rows) for _, split, rows in groups], model.encoder.specials)
    tasks = torch.cat([torch.full_like(rows, task) for task, _, rows in groups])
    batch = replace(batch, tasks=tasks).to(model.device)
    whole = Encoded(model.read(batch, [reading.task for reading in readings]), batch)
    if len(groups) == 1 and all(place.rows is None for place in places):
        return [Encoded(whole.states, batch.for_task(reading.task)) for reading in readings]
    starts = [0, *accumulate(len(rows) for _, _, rows in groups)]
    found = []
    for (task, split, rows), (group, index) in zip(readings, places, strict=True):
        own = torch.arange(len(rows)) if index is None else index
        found.append(_take(whole, own + starts[group], split, task))
    return found


class _Place(NamedTuple):
    """Where a reading's rows are: in a group of rows that are encoded; rows int64 [n] of it, None for all of it."""

    group: int
    rows: Tensor | None = None


def _together(readings: Sequence[Reading]) -> tuple[list[Reading], list[_Place]]:
    """One group for every split, with each example once."""
    of_split: dict[int, list[Reading]] = {}
    for reading in readings:
        of_split.setdefault(id(reading.split), []).append(reading)
    groups = [members[0]._replace(rows=_union([member.rows for member in members])) for members in of_split.values()]
    number = {key: group for group, key in enumerate(of_split)}
    places = []
    for _, split, rows in readings:
        group = number[id(split)]
        every = groups[group].rows
        places.append(_Place(group, None if torch.equal(rows, every) else torch.searchsorted(every, rows)))
    return groups, places


def _union(rows: Sequence[Tensor]) -> Tensor:
    """Every row of some lists once: ascending, or as it is where all lists are the same."""
    if all(torch.equal(rows[0], other) for other in rows[1:]):
        return rows[0]
    every: Tensor = torch.unique(torch.cat(list(rows)))
    return every


def _take(whole: Encoded, index: Tensor, split: PreparedSplit, task: int) -> Encoded:
    """The rows of index int64 [n], for a task that reads them from `split`."""
    batch = whole.batch.select(index, split).for_task(task)
    index = to_device(index, batch.pieces.device)
    return Encoded(whole.states.select(index, batch.word_mask.shape[1], batch.pieces.shape[1]), batch)
