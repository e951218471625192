"""Every batch holds examples of all tasks; any two counts differ by at most one."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import SamplerOptions


class Options(SamplerOptions):
    type: Literal["balanced"]
