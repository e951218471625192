"""Sampler: what every task sampler offers. A new one is one file in `samplers/`; this file imports no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.train.view import View


@dataclass(frozen=True)
class TaskSizes:
    """How much training data each task has, in the order of the model's tasks."""

    examples: tuple[int, ...]
    batches: tuple[int, ...]  # per pass over the data
    names: tuple[str, ...] = ()  # of the tasks

    def __len__(self) -> int:
        return len(self.examples)


class Part(NamedTuple):
    """One task's share of a batch: examples int64 [n] of its training data."""

    task: int
    rows: Tensor


class Sampler(ABC):
    """Gives batch after batch; a batch may hold examples of several tasks, which are encoded together."""

    def __init__(self, sizes: TaskSizes) -> None:
        self.sizes = sizes

    @abstractmethod
    def draw(self, view: View) -> tuple[Part, ...]:
        """The parts of the next batch, taken from the view; a task has at most one."""

    def batches_per_epoch(self) -> int:
        """By default as many as one pass over every task's data has, whichever tasks they are drawn from."""
        return sum(self.sizes.batches)

    def state(self) -> dict[str, Any]:
        """Small JSON that restores the sampler exactly; what was taken from the view is kept elsewhere."""
        return {}

    def load_state(self, saved: dict[str, Any]) -> None:
        """The inverse of `state`."""
        del saved


def power_law(sizes: Sequence[int], exponent: float) -> tuple[float, ...]:
    """p_t proportional to n_t^exponent."""
    weights = [float(size) ** exponent for size in sizes]
    total = sum(weights)
    return tuple(weight / total for weight in weights)
