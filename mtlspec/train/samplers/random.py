"""Every task is equally likely."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import SamplerOptions


class Options(SamplerOptions):
    type: Literal["random"]
