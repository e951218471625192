"""A JSON file that is a list of objects, or holds one: an example an object, fields as in JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from json import JSONDecodeError
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field

from mtlspec.data.blocks import Block, lines
from mtlspec.data.readers._examples import ExampleOptions
from mtlspec.data.readers._json import field, record, require_fields
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place
from mtlspec.spec.families import Layout
from mtlspec.spec.words import shorten

_LONGEST = 2**30  # bytes: all of such a file may stand in one line
_BLANKS = " \t\n\r"


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
        text = "\n".join(lines(path, _LONGEST))
        try:
            require_fields(self.needed(), self._elements(path, text), path)
            yield from self._elements(path, text)
        except JSONDecodeError as error:
            place = Place(str(path), error.lineno, error.colno)
            raise DataError("E770", f"not JSON: {error.msg}", place, "is the file cut off?") from None
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else shorten(str(error))
            raise DataError("E771", f"JSON that cannot be used: {reason}", path) from None

    def _elements(self, path: Path, text: str) -> Iterator[Block]:
        decoder = json.JSONDecoder()
        at = _start(text, self.under, path)
        number, line, counted = 0, 1, 0
        while True:
            at = _skipped(text, at + 1)
            if text[at : at + 1] == "]" and not number:
                return
            line, counted = line + text.count("\n", counted, at), at
            _, end = decoder.raw_decode(text, at)
            number += 1
            yield Block(str(path), number, line, (text[at:end],))
            at = _skipped(text, end)
            if text[at : at + 1] == "]":
                return
            if text[at : at + 1] != ",":
                raise JSONDecodeError("Expecting ',' delimiter", text, at)

    def parse(self, block: Block) -> Sentence:
        """One example; a field that is not there is missing."""
        found = record(block)
        return self.example(lambda place: field(found, place), block)


def _start(text: str, under: str | None, path: Path) -> int:
    """Where the list starts."""
    at = _skipped(text, 0)
    if under is not None:
        at = _value_of(under, text, at, path)
    if text[at : at + 1] != "[":
        place = Place(str(path), text.count("\n", 0, at) + 1)
        what = f"the field '{under}'" if under is not None else "the file"
        hint = "name the field that holds the list with `under`; objects line by line have the reader `jsonl`"
        raise DataError("E772", f"{what} is not a JSON list", place, hint)
    return at


def _value_of(name: str, text: str, at: int, path: Path) -> int:
    """Where the value of a field of the file's object starts."""
    decoder = json.JSONDecoder()
    seen = text[at : at + 1]
    while seen in ("{", ",") and seen:
        at = _skipped(text, at + 1)
        if text[at : at + 1] == "}":
            break
        key: Any
        key, at = decoder.raw_decode(text, at)
        at = _skipped(text, at)
        if text[at : at + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", text, at)
        at = _skipped(text, at + 1)
        if key == name:
            return at
        _, at = decoder.raw_decode(text, at)
        at = _skipped(text, at)
        seen = text[at : at + 1]
    raise DataError("E773", f"the file has no field '{name}'", path, "correct `under` of the reader")


def _skipped(text: str, at: int) -> int:
    """The next place that is not blank."""
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at
