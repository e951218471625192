"""An encoder made here: WordPiece and a BERT trained on the experiment's own text."""

from __future__ import annotations

from typing import ClassVar, Literal

from mtlspec.spec.families import SourceOptions


class Options(SourceOptions):
    learns_from_data: ClassVar[bool] = True
    type: Literal["pretrain"]
