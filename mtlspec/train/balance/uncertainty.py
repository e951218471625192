"""Weights learnt from homoscedastic uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from mtlspec.spec.families import BalanceOptions
from mtlspec.train.balancing import Balance
from mtlspec.train.numbers import number

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.train.numbers import Number


class Options(BalanceOptions):
    type: Literal["uncertainty"]

    def build(self, tasks: Sequence[str]) -> Balance:
        return Uncertainty(len(tasks))


class Uncertainty(Balance):
    """loss_t / sigma_t^2 + log sigma_t, with s_t = log sigma_t^2 learnt per task and started at 0."""

    def __init__(self, tasks: int) -> None:
        import torch
        from torch import nn

        super().__init__(tasks)
        self.log_variance = nn.Parameter(torch.zeros(tasks))
        self.module = nn.ParameterDict({"log_variance": self.log_variance})

    def weigh(self, task: int, loss: Tensor) -> tuple[Tensor, Number]:
        log_variance = self.log_variance[task]
        weight = (-log_variance).exp()
        return weight * loss + 0.5 * log_variance, number(weight)
