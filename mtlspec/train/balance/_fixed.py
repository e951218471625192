"""Weights that never change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mtlspec.train.balancing import Balance

if TYPE_CHECKING:
    from torch import Tensor


class FixedWeights(Balance):
    def __init__(self, weights: Sequence[float]) -> None:
        super().__init__(len(weights))
        self._weights = tuple(weights)

    def weigh(self, task: int, loss: Tensor) -> tuple[Tensor, float]:
        weight = self._weights[task]
        return (loss if weight == 1 else loss * weight), weight
