"""Independent tags: softmax over each word."""

from __future__ import annotations

from typing import Literal

from mtlspec.spec.families import TaggerOptions


class Options(TaggerOptions):
    type: Literal["linear"]
