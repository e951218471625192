"""What every way of balancing has in common: a task's loss in, the loss that is trained out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from torch import Tensor, nn


class Balance(Protocol):
    """Weighs losses; what it learns is in `module`, what it remembers in `state`."""

    @property
    def module(self) -> nn.Module:
        """Its parameters train with the decoders' learning rate."""
        ...

    def weigh(self, task: int, loss: Tensor) -> tuple[Tensor, float]:
        """The weighted loss of a task (an index), and the weight for the history."""
        ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, saved: dict[str, Any]) -> None: ...


class BalanceKind(Protocol):
    """What the options of every way of balancing can do."""

    def build(self, tasks: Sequence[str]) -> Balance: ...
