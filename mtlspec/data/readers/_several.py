"""JSON lines whose objects may be several examples each: the choices of a question."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import Field

from mtlspec.data.blocks import Block, lines
from mtlspec.data.choices import Choice
from mtlspec.data.malformed import refuse
from mtlspec.data.readers._json import record
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind, Layout

Record = Mapping[str, Any]


class Row(NamedTuple):
    """An example, before it is a sentence; `value` is None where the file does not tell."""

    id: str
    texts: tuple[str, ...]
    value: str | Choice | None


class SeveralOptions(ReaderOptions):
    """A reader whose objects are examples with one layer, `label` or `choice`."""

    layout: ClassVar[Layout] = "jsonl"
    labelled: bool = Field(default=True, description="Whether labels are read, where the file has them.")

    @abstractmethod
    def rows(self, found: Record, wrong: list[str]) -> Iterator[Row]:
        """The examples of an object. All that is wrong with it is added to `wrong`; then they mean nothing."""

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
        """One an example: the line of its object, and its number in it."""
        number = 0
        for at, line in enumerate(lines(path), 1):
            if not line.strip(" \t"):
                continue
            for row in range(self._count(Block(str(path), number + 1, at, (line,)))):
                number += 1
                yield Block(str(path), number, at, (line, str(row)))

    def _count(self, block: Block) -> int:
        """The examples of a line; one if it is malformed, and whoever parses it says what is wrong."""
        wrong: list[str] = []
        try:
            found = record(block)
        except DataError:
            return 1
        count = sum(1 for _ in self.rows(found, wrong)) if self.is_read(found) else 0
        return 1 if wrong else count

    def parse(self, block: Block) -> Sentence:
        wrong: list[str] = []
        rows = list(self.rows(record(block), wrong))
        refuse([self.malformed(why, block) for why in wrong])
        row = rows[int(block.lines[1])]
        if any(_is_damaged(text) for text in (row.id, *row.texts)):
            raise self.malformed("a text holds a NUL character or half of a surrogate pair", block)
        layers: dict[str, Any] = {}
        if self.labelled and row.value is not None:
            layers[self.column_names()[0]] = row.value
        return Sentence(row.id or str(block.number), (), layers, (block.file, block.first), texts=row.texts)


def _is_damaged(text: str) -> bool:
    """JSON can say what no file can hold."""
    return "\0" in text or (not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text))
