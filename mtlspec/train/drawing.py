"""Which examples a model that may see only a few of them trains on."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.prepared import PreparedSplit
from mtlspec.data.streams import philox
from mtlspec.errors import StageError
from mtlspec.model.task import Task
from mtlspec.spec.models import TrainOptions


def draw_examples(task: Task, split: PreparedSplit, rows: Tensor, options: TrainOptions, seed: int) -> Tensor:
    """Of the rows int64 [n] that carry a task's annotation those that it trains on, ascending."""
    if not options.examples or options.draw == "random":
        return sample(rows, len(split), options.examples, seed)
    classes = task.classes(split)
    if classes is None:
        hint = "leave `train.draw` out for models of this task"
        raise StageError("E870", f"task '{task.name}': its examples have no classes to draw evenly from", hint=hint)
    return balanced_sample(rows, classes, options.examples, seed)


def sample(rows: Tensor, sentences: int, limit: int | None, seed: int) -> Tensor:
    """At most `limit` of the rows int64 [n], ascending; tasks with the same sentences get the same ones.

    Without a limit all of them, and also where it is 0: nothing is drawn from them then.
    """
    if not limit or len(rows) <= limit:
        return rows
    return rows[_rank(sentences, seed)[rows].argsort(stable=True)[:limit]].sort().values


def balanced_sample(rows: Tensor, classes: Tensor, limit: int, seed: int) -> Tensor:
    """At most `limit` of the rows int64 [n], ascending, as many of every class as there are; classes int64 [N].

    Rounds take one of every class that has any left, so that a rare class leaves its share to the others. A smaller
    draw of the same seed is part of a larger one.
    """
    key, own = _rank(len(classes), seed)[rows].numpy(), classes[rows].numpy()
    order = np.lexsort((key, own))
    starts = np.flatnonzero(np.r_[True, np.diff(own[order]) != 0])
    turn = np.empty(len(order), np.int64)
    turn[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return rows[torch.from_numpy(np.lexsort((key, turn))[:limit])].sort().values


def _rank(sentences: int, seed: int) -> Tensor:
    return torch.from_numpy(philox(seed, "examples").bit_generator.random_raw(sentences).astype("int64"))
