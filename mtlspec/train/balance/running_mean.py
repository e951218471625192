"""Losses are scaled to a common running mean."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import BalanceOptions


class Options(BalanceOptions):
    type: Literal["running_mean"]
