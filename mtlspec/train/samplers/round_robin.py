"""Tasks take turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import Part, Sampler, TaskSizes

if TYPE_CHECKING:
    from mtlspec.train.view import View


class Options(SamplerOptions):
    type: Literal["round_robin"]

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        del sentences, epochs, seed
        return RoundRobin(sizes)


class RoundRobin(Sampler):
    """Task 0, 1, ..., T-1, 0, 1, ..."""

    def __init__(self, sizes: TaskSizes) -> None:
        super().__init__(sizes)
        self._next = 0

    def draw(self, view: View) -> tuple[Part, ...]:
        task = self._next
        self._next = (task + 1) % len(self.sizes)
        return (Part(task, view.take(task)),)

    def state(self) -> dict[str, Any]:
        return {"next": self._next}

    def load_state(self, saved: dict[str, Any]) -> None:
        self._next = saved["next"]
