"""A balancing that is wrong on purpose: a running mean that forgets its losses when it is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mtlspec.spec.families import BalanceOptions
from mtlspec.train.balance.running_mean import RunningMean
from mtlspec.train.balancing import Balance


class Options(BalanceOptions):
    type: Literal["forgetful"]

    def build(self, tasks: Sequence[str]) -> Balance:
        return Forgetful(len(tasks), 5)


class Forgetful(RunningMean):
    def load_state(self, saved: dict[str, Any]) -> None:
        pass
