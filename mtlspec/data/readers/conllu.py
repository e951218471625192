"""CoNLL-U."""

from __future__ import annotations

from typing import ClassVar, Literal

from mtlspec.spec.families import LayerKind, ReaderOptions


class Options(ReaderOptions):
    columns: ClassVar[dict[str, LayerKind]] = {"lemma": "tags", "upos": "tags", "xpos": "tags", "dep": "dep"}
    type: Literal["conllu"]
