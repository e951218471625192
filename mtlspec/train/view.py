"""View: what a sampler sees of training when it draws a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from torch import Tensor

from mtlspec.train.feed import Feed
from mtlspec.train.sampling import Part, TaskSizes

if TYPE_CHECKING:
    from mtlspec.train.numbers import Number


@dataclass(frozen=True)
class View:
    """Where training stands, the tasks' data, and the model's opinion of them; tasks are indices."""

    epoch: int  # from 1
    update: int  # from 1: the one that is drawn for
    updates: int  # in the whole run, if it does not stop early
    sizes: TaskSizes
    latest: Sequence[Number | None]  # each task's training loss, which a GPU may not have computed yet
    dev_scores: Sequence[Mapping[str, Mapping[str, float]]]  # of every finished epoch: task -> metric -> percent
    feeds: Sequence[Feed]
    judge: Callable[[Sequence[Part]], list[Tensor]]

    @cached_property
    def losses(self) -> tuple[float | None, ...]:
        """Each task's latest training loss; None: not drawn yet."""
        return tuple(None if loss is None else float(loss) for loss in self.latest)

    def take(self, task: int, count: int | None = None) -> Tensor:
        """Rows int64 [n]: the task's next batch of examples with similar lengths, or exactly `count` examples.

        An example comes again only after all others of its task have come, in each of the two ways by itself.
        """
        return self.feeds[task].next(count)

    def scores(self, task: int, rows: Tensor) -> Tensor:
        """How unsure the model is of examples, float32 [n] from 0 (sure) to 1. Nothing of training changes."""
        return self.judge([Part(task, rows)])[0]

    def all_scores(self, candidates: Sequence[Part]) -> list[Tensor]:
        """`scores` of several tasks' candidates, which are encoded together."""
        return self.judge(candidates)
