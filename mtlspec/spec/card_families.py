"""The families of kinds that cards name: what every reader, generator and encoder source has in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mtlspec.kinds import Options
from mtlspec.spec.families import LayerKind, Layout

if TYPE_CHECKING:
    from mtlspec.data.blocks import Block
    from mtlspec.data.sentence import Sentence
    from mtlspec.model.encoder.request import Request


class ReaderOptions(Options):
    """A file format; streams sentences and names every defect with its line."""

    columns: ClassVar[dict[str, LayerKind]] = {}
    layout: ClassVar[Layout] = "tsv"  # in which labels and numbers that models predict for its examples are written

    @abstractmethod
    def blocks(self, path: Path) -> Iterator[Block]:
        """The lines of a file, a block a sentence; nothing is opened before the first is asked for."""

    @abstractmethod
    def parse(self, block: Block) -> Sentence:
        """The sentence of a block; a defect is a `DataError` that names its line."""

    def read(self, path: Path) -> Iterator[Sentence]:
        """Stream the sentences of a file; a defect ends the stream with its place."""
        return (self.parse(block) for block in self.blocks(path))

    def unlabelled(self) -> Self:
        """The same format, of files that may lack the columns of all layers."""
        return self

    def problem(self) -> str | None:
        """What is wrong with the options together, or None."""
        return None

    def line(self, block: Block, word: int) -> int:
        """The line of a block (0-based) on which the tags of a word (0-based) stand, where words have their own."""
        del block, word
        return 0

    def layer_kind(self, column: str) -> LayerKind | None:
        """The kind of layer that a column of this format holds, or None if the format has no such column."""
        return self.columns.get(column)

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def named_by(self, column: str) -> str:
        """What in a card says where a column stands: for errors about columns that hold nothing."""
        del column
        return "`layers` of the card"

    def known_labels(self, column: str) -> tuple[str, ...] | None:
        """All labels that a column can hold, where the options say so."""
        del column
        return None


class GeneratorOptions(Options):
    """What makes or fetches a corpus, such as a grammar and a seed."""

    @abstractmethod
    def generate(self, out: Path) -> None:
        """Write the corpus's files into a folder: the same bytes every time."""


class SourceOptions(Options):
    """Where an encoder comes from."""

    learns_from_data: ClassVar[bool] = False  # True: the stage depends on the experiment's data
    learns_from_all: ClassVar[bool] = False  # True: on all corpora together, unless the spec names one
    all_pinned: ClassVar[bool] = False  # True: each file that is taken has a digest in the card

    def about(self) -> str:
        """Where it comes from, for lists."""
        return ""

    def pins(self) -> Mapping[str, str]:
        """Digest of each file that the card records."""
        return {}

    def folder(self, project_root: Path) -> Path | None:
        """Where its files lie, before they are fetched; None if they are made, or not on this machine yet.

        What must be here, and is not, is an error.
        """
        del project_root
        return None

    @abstractmethod
    def fetch(self, request: Request) -> dict[str, Any]:
        """Fill `request.out` with config, weights and tokenizer; facts for the record."""

    def layer_count(self) -> int | None:
        """The encoder's layers, where that is known before it is fetched."""
        return None

    def shape(self) -> Any:
        """The transformers config of an encoder whose weights are learnt; None where they come from elsewhere."""
        return None
