"""Heads of tasks: which ones a task chooses, and where their parameters lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch
from mtlspec.data.streams import philox
from mtlspec.errors import StageError
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.head_sets import head_count, top_heads
from mtlspec.model.importance import Annotated, head_importance, sample_rows
from mtlspec.model.sharing import Moment, Sharing
from mtlspec.model.task import Task

if TYPE_CHECKING:
    from mtlspec.sharing.iat import Options


def real_heads(heads: Heads) -> Tensor:
    """Which places [L, H] are heads: layers may have different numbers of them."""
    return torch.arange(heads.shape[1]) < torch.tensor(heads.counts).unsqueeze(1)


def chosen_heads(sharing: Sharing, tasks: Sequence[Task], moment: Moment, options: Options, among: Tensor) -> Tensor:
    """Of each task its share of the heads that `among` bool [L, H] names: bool [T, L, H].

    Weights, gradients, modes and generators stay as they are.
    """
    if options.select == "random":
        values = torch.stack([_keys(task.name, among.shape) for task in tasks])
    else:
        values = _importance(sharing, tasks, moment, options)
    if options.prune_least or options.select == "least":
        values = -values
    values = values.masked_fill(~among, torch.nan)
    number = how_many(options, among)
    return torch.stack([torch.from_numpy(top_heads(own.numpy(), number)) for own in values])


def how_many(options: Options, among: Tensor) -> int:
    """How many of the heads that `among` bool [L, H] names are a task's; an error where `alpha` is not one of them."""
    return head_count(options.alpha, int(among.sum())) if options.alpha else 0


def _keys(task: str, shape: torch.Size) -> Tensor:
    """A random order of heads for a task and the seed of the run, float64 [L, H]."""
    raw = philox(torch.initial_seed(), f"iat/heads/{task}").bit_generator.random_raw(shape.numel())
    return torch.from_numpy(raw.argsort(kind="stable").argsort().astype(np.float64)).view(shape)


def _importance(sharing: Sharing, tasks: Sequence[Task], moment: Moment, options: Options) -> Tensor:
    """Float64 [T, L, H], each task's on its own training data."""

    def batches() -> Iterator[Annotated]:
        for number, task in enumerate(tasks):
            for batch, gold in _sample(moment, number, options.sentences, task.name):
                yield batch, [gold if other == number else None for other in range(len(tasks))]

    found = head_importance(sharing, tasks, batches(), token_abs=options.importance == "token_abs")
    for task, own in zip(tasks, found, strict=True):
        if not own.isfinite().all():
            raise StageError(
                "E942",
                f"the importance of heads for the task '{task.name}' is not finite at update {moment.update}",
                hint="lower the learning rates, or clip gradients at a smaller norm",
            )
    return found


def _sample(moment: Moment, task: int, limit: int | None, name: str) -> Iterator[tuple[Batch, Any]]:
    """A task's training data: all, or a random sample that depends on the seed of the run."""
    taken = None
    if limit is not None:
        total = sum(len(batch.rows) for batch, _ in moment.training_batches(task))
        seed = int(philox(torch.initial_seed(), f"iat/sentences/{name}").bit_generator.random_raw())
        taken = sample_rows(total, limit, seed)
    start = 0
    for batch, gold in moment.training_batches(task):
        end = start + len(batch.rows)
        if taken is None:
            yield batch, gold
        elif len(own := taken[(taken >= start) & (taken < end)] - start):
            yield batch.select(own), gold
        start = end


@dataclass(frozen=True)
class Still:
    """A part of a parameter that must not move: the indices int64 [n] along one axis."""

    parameter: nn.Parameter
    axis: int
    index: Tensor

    def cleared(self, gradient: Tensor) -> Tensor:
        """A gradient of the parameter without this part, even where that is not a number."""
        return gradient.index_fill(self.axis, self.index, 0) if len(self.index) else gradient

    def values(self, tensor: Tensor) -> Tensor:
        """A copy of this part of the parameter, or of a tensor of its shape."""
        return tensor.detach().index_select(self.axis, self.index)

    @torch.no_grad()
    def put_back(self, tensor: Tensor, values: Tensor) -> None:
        tensor.index_copy_(self.axis, self.index, values)


def still_parts(heads: Heads, moving: Tensor, *, output_columns: bool) -> list[Still]:
    """Of every trained parameter of the heads the rows of those that do not move; `moving` is bool [L, H].

    A parameter that queries, keys and values share comes once. One that moves as a whole has no indices.
    """
    parts: dict[int, tuple[nn.Parameter, int, list[int]]] = {}
    for layer, own in enumerate(moving.tolist()):
        for found in heads.slices(layer):
            if found.parameter.requires_grad and (output_columns or found.role != "output"):
                _, _, indices = parts.setdefault(id(found.parameter), (found.parameter, found.axis, []))
                still = (head for head in range(len(found.starts)) if not own[head])
                indices += [index for head in still for index in found.indices(head)]
    return [
        Still(parameter, axis, torch.tensor(sorted(indices), dtype=torch.int64, device=parameter.device))
        for parameter, axis, indices in parts.values()
    ]
