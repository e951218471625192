"""What every sampler has in common: a stream of draws, each naming the tasks of one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


@dataclass(frozen=True)
class TaskSizes:
    """How much training data each task has, in the order of the model's tasks."""

    examples: tuple[int, ...]
    batches: tuple[int, ...]  # per pass over the data

    def __len__(self) -> int:
        return len(self.examples)


class Part(NamedTuple):
    """One task's share of a batch: its next bucketed batch, or exactly `examples` sentences."""

    task: int
    examples: int | None = None


class Sampler(Protocol):
    """Gives batch after batch; `state` is small JSON and restores the stream exactly."""

    def draw(self, epoch: int) -> tuple[Part, ...]:
        """The parts of the next batch; `epoch` counts from 1."""
        ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, saved: dict[str, Any]) -> None: ...


class SamplerKind(Protocol):
    """What the options of every sampler can do."""

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler: ...


def power_law(sizes: Sequence[int], exponent: float) -> tuple[float, ...]:
    """p_t proportional to n_t^exponent."""
    weights = [float(size) ** exponent for size in sizes]
    total = sum(weights)
    return tuple(weight / total for weight in weights)
