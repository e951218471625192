"""Every batch holds examples of all tasks; any two counts differ by at most one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import Part, Sampler, TaskSizes

if TYPE_CHECKING:
    from mtlspec.train.view import View


class Options(SamplerOptions):
    """`batch.sentences` is divided among the tasks, at least one each; `batch.tokens` does not bind: it would break
    the balance."""

    type: Literal["balanced"]
    epoch: Literal["all", "smallest"] | Annotated[int, Field(ge=1)] = Field(
        default="all",
        description="How long an epoch is. `all`: as many batches as the examples of all tasks fill. `smallest`: one"
        " pass over the task with the fewest. A number: so many batches.",
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

    def __init__(
        self, sizes: TaskSizes, sentences: int, epoch: Literal["all", "smallest"] | int = "all", rotates: bool = True
    ) -> None:
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
        smallest = len(self.sizes) * min(self.sizes.examples)
        return math.ceil((smallest if self._epoch == "smallest" else sum(self.sizes.examples)) / self._held)

    def state(self) -> dict[str, Any]:
        return {"first": self._first}

    def load_state(self, saved: dict[str, Any]) -> None:
        self._first = saved["first"]
