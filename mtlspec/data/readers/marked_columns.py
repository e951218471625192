"""Columns of tags of which only matters whether a word has one: targets of frames, links."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from mtlspec.data.blocks import Block
from mtlspec.data.readers import columns
from mtlspec.data.sentence import Sentence

_NOTHING = "O"


class Options(columns.Options):
    """Read like `columns`; then every tag but `O` of a column that is marked becomes the same."""

    type: Literal["marked_columns"]  # type: ignore[assignment]  # the name of a kind is the only one of its own
    marks: dict[str, str] = Field(description="Column name -> the tag of all its words whose tag is not `O`.")

    def problem(self) -> str | None:
        unknown = sorted(self.marks.keys() - self.column.keys())
        return f"`marks` names '{unknown[0]}', which `column` does not" if unknown else super().problem()

    def parse(self, block: Block) -> Sentence:
        """One sentence from its lines."""
        sentence = super().parse(block)
        layers = dict(sentence.layers)
        for name, mark in self.marks.items():
            tags = layers.get(name)
            if isinstance(tags, tuple):
                layers[name] = tuple(tag if tag in (None, _NOTHING) else mark for tag in tags)
        return replace(sentence, layers=layers)
