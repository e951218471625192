"""JSON lines whose objects may be several examples each: the choices of a question."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import Field

from mtlspec.data.blocks import Block, lines
from mtlspec.data.choices import Choice
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


class MalformedError(ValueError):
    """What is wrong with an object, for a message."""


class SeveralOptions(ReaderOptions):
    """A reader whose objects are examples with one layer, `label` or `choice`."""

    layout: ClassVar[Layout] = "jsonl"
    labelled: bool = Field(default=True, description="Whether labels are read, where the file has them.")

    @abstractmethod
    def rows(self, found: Record) -> Iterator[Row]:
        """The examples of an object; a `MalformedError` says what is wrong with it."""

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
            try:
                found = record(Block(str(path), number + 1, at, (line,)))
                count = sum(1 for _ in self.rows(found)) if self.is_read(found) else 0
            except (DataError, MalformedError):
                count = 1  # whoever parses it says what is wrong
            for row in range(count):
                number += 1
                yield Block(str(path), number, at, (line, str(row)))

    def parse(self, block: Block) -> Sentence:
        try:
            row = list(self.rows(record(block)))[int(block.lines[1])]
            if any(_is_damaged(text) for text in (row.id, *row.texts)):
                raise MalformedError("a text holds a NUL character or half of a surrogate pair")
        except MalformedError as error:
            raise self.malformed(str(error), block) from None
        layers: dict[str, Any] = {}
        if self.labelled and row.value is not None:
            layers[self.column_names()[0]] = row.value
        return Sentence(row.id or str(block.number), (), layers, (block.file, block.first), texts=row.texts)


def _is_damaged(text: str) -> bool:
    """JSON can say what no file can hold."""
    return "\0" in text or (not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text))
