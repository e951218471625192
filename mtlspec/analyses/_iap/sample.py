"""The examples that masked models are scored on: all of a split, or a sample of each task's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mtlspec.data.choices import Choice
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import PreparedSplit
from mtlspec.model.importance import sample_rows
from mtlspec.model.task import Task


@dataclass(frozen=True)
class Sample:
    corpora: Corpora  # their split has the sampled examples only
    rows: Mapping[str, Tensor]  # corpus -> int64 [n]: the places of these in the whole split, of corpora that have it

    def places(self, task: Task, split: str) -> Tensor:
        """int64: where the examples that a task is scored on stand in the whole split."""
        data = self.corpora.of(task)
        name = next(name for name, one in self.corpora.items() if one is data)
        return self.rows[name][task.rows(data.split(split))]


def sample(corpora: Corpora, tasks: Sequence[Task], split: str, limit: int | None, seed: int) -> Sample:
    """Of each task so many labelled examples at least, or all that there are; those of tasks that share a corpus serve
    all of them. Choices of a question stay together."""
    drawn, rows = dict(corpora), {}
    for name, data in corpora.items():
        if split not in data.splits:
            continue
        whole = data.split(split)
        own = [task for task in tasks if corpora.of(task) is data]
        rows[name] = torch.arange(len(whole))
        if limit is not None and own:
            rows[name] = torch.unique(torch.cat([_of_task(task, whole, limit, seed) for task in own]))
            drawn[name] = replace(data, splits={**data.splits, split: whole.taken(rows[name])})
    return Sample(Corpora(drawn), rows)


def _of_task(task: Task, split: PreparedSplit, limit: int, seed: int) -> Tensor:
    labelled, gold = task.rows(split), task.gold_values(split)
    units: dict[object, list[int]] = {}
    for row in labelled.tolist():
        value = gold[row]
        units.setdefault(value.question if isinstance(value, Choice) else row, []).append(row)
    chosen = sample_rows(len(units), limit, seed)
    if chosen is None:
        return labelled
    every = list(units.values())
    return torch.tensor([row for unit in chosen.tolist() for row in every[unit]])
