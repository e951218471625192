"""Losses as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from mtlspec.spec.families import BalanceOptions
from mtlspec.train.balance._fixed import FixedWeights

if TYPE_CHECKING:
    from mtlspec.train.balancing import Balance


class Options(BalanceOptions):
    type: Literal["none"]

    def build(self, tasks: Sequence[str]) -> Balance:
        return FixedWeights([1.0] * len(tasks))
