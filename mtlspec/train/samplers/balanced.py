"""Every batch holds examples of all tasks; any two counts differ by at most one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import Part, Sampler, TaskSizes

if TYPE_CHECKING:
    from mtlspec.train.view import View


class Options(SamplerOptions):
    """`batch.sentences` is divided among the tasks, at least one each; `batch.tokens` does not bind: it would break
    the balance."""

    type: Literal["balanced"]

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        del epochs, seed
        return Balanced(sizes, sentences)


class Balanced(Sampler):
    """Divides `sentences` among all tasks (at least one each); the tasks that get one more move on with every batch."""

    def __init__(self, sizes: TaskSizes, sentences: int) -> None:
        super().__init__(sizes)
        self._held = max(sentences, len(sizes))  # examples of a batch
        self._each, self._rest = divmod(self._held, len(sizes))
        self._first = 0

    def draw(self, view: View) -> tuple[Part, ...]:
        tasks = range(len(self.sizes))
        lucky = {(self._first + i) % len(tasks) for i in range(self._rest)}
        self._first = (self._first + self._rest) % len(tasks)
        return tuple(Part(task, view.take(task, self._each + (task in lucky))) for task in tasks)

    def batches_per_epoch(self) -> int:
        """As many as all tasks' examples fill."""
        return math.ceil(sum(self.sizes.examples) / self._held)

    def state(self) -> dict[str, Any]:
        return {"first": self._first}

    def load_state(self, saved: dict[str, Any]) -> None:
        self._first = saved["first"]
