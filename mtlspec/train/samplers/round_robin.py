"""Tasks take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.samplers._sampler import Part

if TYPE_CHECKING:
    from mtlspec.train.samplers._sampler import Sampler, TaskSizes


class Options(SamplerOptions):
    type: Literal["round_robin"]

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        del sentences, epochs, seed
        return RoundRobin(len(sizes))


class RoundRobin:
    """Task 0, 1, ..., T-1, 0, 1, ..."""

    def __init__(self, tasks: int) -> None:
        self._tasks = tasks
        self._next = 0

    def draw(self, epoch: int) -> tuple[Part, ...]:
        del epoch
        task = self._next
        self._next = (task + 1) % self._tasks
        return (Part(task),)

    def state(self) -> dict[str, Any]:
        return {"next": self._next}

    def load_state(self, saved: dict[str, Any]) -> None:
        self._next = saved["next"]
