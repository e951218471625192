"""Balance: what every loss balancing offers. A new one is one file in `balance/`; this file imports no torch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

    from mtlspec.train.numbers import Number


class Balance(ABC):
    """A task's loss in, its weighted loss out; what it learns is in `module`, what it remembers in `state`."""

    def __init__(self, tasks: int) -> None:
        from torch import nn

        self.module: nn.Module = nn.Module()  # its parameters train with the decoders' learning rate
        self.weights: list[Number] = [1.0] * tasks  # the last weight of each task, for the history

    def __call__(self, task: int, loss: Tensor) -> Tensor:
        """The weighted loss of a task (an index)."""
        weighted, self.weights[task] = self.weigh(task, loss)
        return weighted

    @abstractmethod
    def weigh(self, task: int, loss: Tensor) -> tuple[Tensor, Number]:
        """The weighted loss of a task, and its weight: a float, or `number` of a tensor, for which no GPU waits."""

    def state(self) -> dict[str, Any]:
        """What a resume point must hold beside parameters, as JSON."""
        return {}

    def load_state(self, saved: dict[str, Any]) -> None:
        """The inverse of `state`."""
        del saved
