"""Linear layers of which every task has one, for batches in which tasks meet."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TaskLinear(nn.Module):
    """x [R, S, in], rows int64 [R] (the task of each) -> [R, S, out]; one product for all rows and tasks."""

    def __init__(self, tasks: int, inputs: int, outputs: int, spread: float) -> None:
        """Weights start at random with standard deviation `spread`, biases with 0."""
        super().__init__()
        self.weight = nn.Parameter(torch.empty(tasks, inputs, outputs).normal_(std=spread))
        self.bias = nn.Parameter(torch.zeros(tasks, outputs))

    def forward(self, x: Tensor, rows: Tensor) -> Tensor:
        bias = self.bias.index_select(0, rows).unsqueeze(1)
        return torch.baddbmm(bias, x, self.weight.index_select(0, rows))
