"""Every batch holds examples of all tasks; any two counts differ by at most one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.samplers._sampler import Part

if TYPE_CHECKING:
    from mtlspec.train.samplers._sampler import Sampler, TaskSizes


class Options(SamplerOptions):
    """`batch.sentences` is divided among the tasks; `batch.tokens` does not bind: it would break the balance."""

    by_count: ClassVar[bool] = True
    type: Literal["balanced"]

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        del epochs, seed
        return Balanced(len(sizes), sentences)


class Balanced:
    """Divides `sentences` among all tasks (at least one each); the tasks that get one more move on with every batch."""

    def __init__(self, tasks: int, sentences: int) -> None:
        self._tasks = tasks
        self._each, self._rest = divmod(max(sentences, tasks), tasks)
        self._first = 0

    def draw(self, epoch: int) -> tuple[Part, ...]:
        del epoch
        lucky = {(self._first + i) % self._tasks for i in range(self._rest)}
        self._first = (self._first + self._rest) % self._tasks
        return tuple(Part(task, self._each + (task in lucky)) for task in range(self._tasks))

    def state(self) -> dict[str, Any]:
        return {"first": self._first}

    def load_state(self, saved: dict[str, Any]) -> None:
        self._first = saved["first"]
