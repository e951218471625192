"""Hard sharing: one encoder for all tasks, one decoder each."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import SharingOptions


class Options(SharingOptions):
    type: Literal["hard"]
