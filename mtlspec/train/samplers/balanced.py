"""Every batch holds examples of all tasks; any two counts differ by at most one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.kinds import Frozen
from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import Part, Sampler, TaskSizes

if TYPE_CHECKING:
    from mtlspec.train.view import View


Positive = Annotated[int, Field(ge=1)]


class Share(Frozen):
    """How much of every task an epoch has."""

    examples: Positive = Field(description="So many examples of every task, however many there are and beside whom.")


Epoch = Literal["all", "smallest"] | Positive | Share


class Options(SamplerOptions):
    """`batch.sentences` is divided among the tasks, at least one each; `batch.tokens` does not bind: it would break
    the balance."""

    type: Literal["balanced"]
    epoch: Epoch = Field(
        default="all",
        description="How long an epoch is. `all`: as many batches as the examples of all tasks fill. `smallest`: one"
        " pass over the task with the fewest. A number: so many batches. `{examples: 400}`: as many batches as 400"
        " examples of every task fill, so that a task reads as many alone as beside any others.",
    )
    remainder: Literal["rotates", "first"] = Field(
        default="rotates",
        description="Who gets one example more where the division leaves some over: other tasks in every batch, or"
        " always the first ones.",
    )

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        del epochs, seed
        return Balanced(sizes, sentences, self.epoch, self.remainder == "rotates")


class Balanced(Sampler):
    """Divides `sentences` among all tasks (at least one each); the tasks that get one more move on with every batch."""

    def __init__(self, sizes: TaskSizes, sentences: int, epoch: Epoch = "all", rotates: bool = True) -> None:
        super().__init__(sizes)
        self._held = max(sentences, len(sizes))  # examples of a batch
        self._each, self._rest = divmod(self._held, len(sizes))
        self._epoch, self._rotates = epoch, rotates
        self._first = 0

    def draw(self, view: View) -> tuple[Part, ...]:
        tasks = range(len(self.sizes))
        lucky = {(self._first + i) % len(tasks) for i in range(self._rest)}
        if self._rotates:
            self._first = (self._first + self._rest) % len(tasks)
        return tuple(Part(task, view.take(task, self._each + (task in lucky))) for task in tasks)

    def batches_per_epoch(self) -> int:
        """As many as all tasks' examples fill, or the smallest task's at its share of a batch, or as was said."""
        if isinstance(self._epoch, int):
            return self._epoch
        if self._epoch == "all":
            return math.ceil(sum(self.sizes.examples) / self._held)
        each = self._epoch.examples if isinstance(self._epoch, Share) else min(self.sizes.examples)
        return math.ceil(len(self.sizes) * each / self._held)

    def state(self) -> dict[str, Any]:
        return {"first": self._first}

    def load_state(self, saved: dict[str, Any]) -> None:
        self._first = saved["first"]
