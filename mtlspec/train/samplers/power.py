"""A task is as likely as its examples to the power alpha."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import SamplerOptions


class Options(SamplerOptions):
    type: Literal["power"]
