"""A task is as likely as the square root of its examples."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import SamplerOptions


class Options(SamplerOptions):
    type: Literal["square_root"]
