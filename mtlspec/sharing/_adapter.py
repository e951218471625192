"""What a task has of its own in a layer: a bottleneck, and what it changes of a norm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn

from mtlspec.sharing._task_linear import TaskLinear
from mtlspec.sharing._task_norm import Norm

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"gelu": nn.functional.gelu, "relu": nn.functional.relu}


class Adapter(nn.Module):
    """x [R, S, D] -> x + up(activation(down(x))), by the task of every row."""

    def __init__(self, tasks: int, width: int, size: int, activation: Literal["gelu", "relu"], spread: float) -> None:
        super().__init__()
        self.down, self.up = TaskLinear(tasks, width, size, spread), TaskLinear(tasks, size, width, spread)
        self._activation = _ACTIVATIONS[activation]

    def forward(self, x: Tensor, rows: Tensor) -> Tensor:
        changed: Tensor = self.up(self._activation(self.down(x, rows)), rows)
        return x + changed


class OwnNorm(nn.Module):
    """A norm of every task, as its difference from the encoder's: 0 at the start. A norm without bias gets none."""

    def __init__(self, tasks: int, width: int, biased: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(tasks, width))
        self.bias = nn.Parameter(torch.zeros(tasks, width)) if biased else None

    def forward(self, norm: Norm, read: Tensor, rows: Tensor) -> Tensor:
        """read [R, S, D], rows int64 [R] -> [R, S, D]"""
        made = norm.normed(read) * (norm.weight + self.weight.index_select(0, rows)).unsqueeze(1)
        if norm.bias is None or self.bias is None:
            return made
        return made + (norm.bias + self.bias.index_select(0, rows)).unsqueeze(1)
