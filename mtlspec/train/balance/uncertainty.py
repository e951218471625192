"""Weights learnt from homoscedastic uncertainty."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import BalanceOptions


class Options(BalanceOptions):
    type: Literal["uncertainty"]
