"""JSON lines, an example a line: fields by dotted names, booleans and numbers as labels, nulls are missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from mtlspec.data.blocks import Block, lines
from mtlspec.data.readers._examples import ExampleOptions
from mtlspec.data.readers._json import field, record, require_fields
from mtlspec.data.sentence import Sentence
from mtlspec.spec.families import Layout


class Options(ExampleOptions):
    layout: ClassVar[Layout] = "jsonl"
    type: Literal["jsonl"]

    def problem(self) -> str | None:
        numbers = [place for place in self.places() if isinstance(place, int)]
        return f"a field has a name, not the number {numbers[0]}" if numbers else super().problem()

    def blocks(self, path: Path) -> Iterator[Block]:
        """The lines that are not blank."""
        require_fields(self.needed(), self._lines(path), path)
        yield from self._lines(path)

    def _lines(self, path: Path) -> Iterator[Block]:
        number = 0
        for at, line in enumerate(lines(path), 1):
            if at > self.skip and line.strip(" \t"):
                number += 1
                yield Block(str(path), number, at, (line,))

    def parse(self, block: Block) -> Sentence:
        """One example; a field that is not there is missing."""
        found = record(block)
        return self.example(lambda place: field(found, place), block)
