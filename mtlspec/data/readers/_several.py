"""JSON objects that may be several examples each: the choices of a question, the questions about a text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import Field

from mtlspec.data.answers import Answered
from mtlspec.data.blocks import Block, lines
from mtlspec.data.choices import Choice
from mtlspec.data.malformed import refuse
from mtlspec.data.marks import Marked
from mtlspec.data.readers._json import record
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind, Layout
from mtlspec.spec.words import show

Record = Mapping[str, Any]


class Row(NamedTuple):
    """An example, before it is a sentence; `value` is None where the file does not tell."""

    id: str
    texts: tuple[str, ...]
    value: str | Choice | Answered | Marked | None


class SeveralOptions(ReaderOptions):
    """A reader whose objects are examples with one layer."""

    layout: ClassVar[Layout] = "jsonl"
    labelled: bool = Field(default=True, description="Whether labels are read, where the file has them.")

    @abstractmethod
    def rows(self, found: Record, wrong: list[str]) -> Iterator[Row]:
        """The examples of an object. All that is wrong with it is added to `wrong`; then they mean nothing."""

    def count(self, found: Record, wrong: list[str]) -> int:
        """How many examples an object has."""
        return sum(1 for _ in self.rows(found, wrong))

    def row(self, found: Record, number: int, wrong: list[str]) -> Row | None:
        """One of its examples; a reader that can read it by itself keeps the others where one is malformed."""
        rows = list(self.rows(found, wrong))
        return None if wrong else rows[number]

    def objects(self, path: Path) -> Iterator[tuple[Place, str]]:
        """The objects of a file as JSON, each with its place."""
        return ((Place(str(path), at), line) for at, line in enumerate(lines(path), 1) if line.strip(" \t"))

    @abstractmethod
    def malformed(self, why: str, block: Block) -> DataError:
        """The error of an object that has no examples of this sort."""

    def is_read(self, found: Record) -> bool:
        """Whether an object belongs to the part of the file that is read."""
        del found
        return True

    def layer_kind(self, column: str) -> LayerKind | None:
        return column if column in self.column_names() else None

    def unlabelled(self) -> Self:
        return self.model_copy(update={"labelled": False})

    def blocks(self, path: Path) -> Iterator[Block]:
        """One an example: its object, its number in it, and the column where the object starts, if that is known."""
        number = 0
        for place, text in self.objects(path):
            for row in range(self._count(Block(str(path), number + 1, place.line, (text,)))):
                number += 1
                yield Block(str(path), number, place.line, (text, str(row), str(place.column)))

    def _count(self, block: Block) -> int:
        """The examples of a line; one if it is malformed, and whoever parses it says what is wrong."""
        wrong: list[str] = []
        try:
            found = record(block)
        except DataError:
            return 1
        count = self.count(found, wrong) if self.is_read(found) else 0
        return 1 if wrong else count

    def parse(self, block: Block) -> Sentence:
        wrong: list[str] = []
        row = self.row(record(block), int(block.lines[1]), wrong)
        refuse([self.malformed(why, block) for why in wrong])
        assert row is not None
        if any(_is_damaged(text) for text in (row.id, *row.texts)):
            raise self.malformed("a text holds a NUL character or half of a surrogate pair", block)
        layers: dict[str, Any] = {}
        value = row.value if self.labelled else given(row.value)
        if value is not None:
            layers[self.column_names()[0]] = value
        return Sentence(row.id or str(block.number), (), layers, (block.file, block.first), texts=row.texts)


def objects_of(said: Any, name: str, wrong: list[str]) -> list[Record]:
    """A list of objects that must be there."""
    if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
        wrong.append(f"'{name}' must be a list of objects, not {show(said)}")
        return []
    return said


def given(value: object) -> Marked | None:
    """What of a value is known without labels."""
    return replace(value, label=None) if isinstance(value, Marked) else None


def _is_damaged(text: str) -> bool:
    """JSON can say what no file can hold."""
    return "\0" in text or (not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text))
