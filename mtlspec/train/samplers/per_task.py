"""Every batch holds as many examples of every task; it grows with the number of tasks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import Part, Sampler, TaskSizes

if TYPE_CHECKING:
    from mtlspec.train.view import View

Positive = Annotated[int, Field(ge=1)]
Epoch = Literal["largest", "smallest"] | Positive


class Options(SamplerOptions):
    """So a task takes part in as many updates, with as many examples, whoever learns beside it; `batch` does not
    bind."""

    type: Literal["per_task"]
    examples: Positive = Field(default=8, description="Of every task, in every batch.")
    epoch: Epoch = Field(
        default="largest",
        description="How long an epoch is: one pass over the task with the most examples, or the fewest, or so many"
        " batches. With a number, models of any tasks take equally many updates.",
    )

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        del sentences, epochs, seed
        return PerTask(sizes, self.examples, self.epoch)


class PerTask(Sampler):
    """`each` examples of every task; smaller tasks come round again."""

    def __init__(self, sizes: TaskSizes, each: int, epoch: Epoch) -> None:
        super().__init__(sizes)
        self._each, self._epoch = each, epoch

    def draw(self, view: View) -> tuple[Part, ...]:
        return tuple(Part(task, view.take(task, self._each)) for task in range(len(self.sizes)))

    def batches_per_epoch(self) -> int:
        if isinstance(self._epoch, int):
            return self._epoch
        longest = max if self._epoch == "largest" else min
        return math.ceil(longest(self.sizes.examples) / self._each)
