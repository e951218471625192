"""A JSON file that is a list of objects, or holds one: an example an object, fields as in JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.data.blocks import Block
from mtlspec.data.readers._examples import ExampleOptions
from mtlspec.data.readers._json import field, record, require_fields
from mtlspec.data.readers._json_lists import elements, readable, skipped, value_of, whole_text
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place
from mtlspec.spec.families import Layout


class Options(ExampleOptions):
    layout: ClassVar[Layout] = "jsonl"
    type: Literal["json"]
    under: str | None = Field(
        default=None,
        description="The field of the file that holds the list, such as `data`; default: all of it is one.",
    )

    def problem(self) -> str | None:
        numbers = [place for place in self.places() if isinstance(place, int)]
        if self.skip:
            return "`skip` is for files of lines"
        return f"a field has a name, not the number {numbers[0]}" if numbers else super().problem()

    def blocks(self, path: Path) -> Iterator[Block]:
        """The elements of the list, each with the line that it starts in."""
        text = whole_text(path)
        with readable(path):
            require_fields(self.needed(), self._elements(path, text), path)
            yield from self._elements(path, text)

    def _elements(self, path: Path, text: str) -> Iterator[Block]:
        line, counted = 1, 0
        for number, (at, end) in enumerate(elements(text, _start(text, self.under, path)), 1):
            line, counted = line + text.count("\n", counted, at), at
            yield Block(str(path), number, line, (text[at:end],))

    def parse(self, block: Block) -> Sentence:
        """One example; a field that is not there is missing."""
        found = record(block)
        return self.example(lambda place: field(found, place), block)


def _start(text: str, under: str | None, path: Path) -> int:
    """Where the list starts."""
    at = skipped(text, 0)
    if under is not None:
        found = value_of(under, text, at)
        if found is None:
            raise DataError("E773", f"the file has no field '{under}'", path, "correct `under` of the reader")
        at = found
    if text[at : at + 1] != "[":
        place = Place(str(path), text.count("\n", 0, at) + 1)
        what = f"the field '{under}'" if under is not None else "the file"
        hint = "name the field that holds the list with `under`; objects line by line have the reader `jsonl`"
        raise DataError("E772", f"{what} is not a JSON list", place, hint)
    return at
