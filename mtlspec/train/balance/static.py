"""A fixed weight for each task."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import BalanceOptions


class Options(BalanceOptions):
    type: Literal["static"]
