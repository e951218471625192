"""From proportional in the first epoch towards uniform in the last."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import SamplerOptions


class Options(SamplerOptions):
    type: Literal["annealed"]
