"""Columns of tags, a word a line and a blank line between sentences, as in CoNLL-2000 and CoNLL-2003."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from mtlspec.data.readers._blocks import Block, paragraphs
from mtlspec.data.sentence import Layer, Sentence
from mtlspec.errors import DataError
from mtlspec.spec.families import LayerKind, ReaderOptions

Scheme = Literal["iob1", "iob2", "iobes"]
_SEPARATORS = {"tab": "\t", "space": " ", "blank": None}
_PREFIXES: dict[Scheme, set[str]] = {"iob1": {"I", "B"}, "iob2": {"I", "B"}, "iobes": {"I", "B", "E", "S"}}


class Options(ReaderOptions):
    type: Literal["columns"]
    column: dict[str, int] = Field(description="Column name -> its number from 0; negative ones count from the end.")
    word: int = Field(default=0, description="The column of the words.")
    delimiter: Literal["tab", "space", "blank"] = Field(
        default="blank", description="`blank` is any run of white space."
    )
    comment: str | None = Field(default=None, min_length=1, description="Lines that start with this are no words.")
    spans: dict[str, Scheme] = Field(
        default_factory=dict,
        description="Columns of span tags and their scheme; they are checked and read as IOB2 (`iobes` stays).",
    )

    def layer_kind(self, column: str) -> LayerKind | None:
        return "tags" if column in self.column else None

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.column)


def read(options: Options, path: Path) -> Iterator[Sentence]:
    """Stream the sentences of a file; a defect ends the stream with its place."""
    return (parse(options, block) for block in blocks(options, path))


def blocks(options: Options, path: Path) -> Iterator[Block]:
    """Document lines of CoNLL-2003 are no sentences."""
    del options
    return paragraphs(path, skip=("-DOCSTART-",))


def parse(options: Options, block: Block) -> Sentence:
    """One sentence from its lines."""
    separator = _SEPARATORS[options.delimiter]
    rows: list[list[str]] = []
    lines: list[int] = []
    for at, line in enumerate(block.lines):
        if options.comment and line.startswith(options.comment):
            continue
        row = line.split(separator)
        if rows and len(row) != len(rows[0]):
            raise DataError("E240", f"{len(row)} columns instead of {len(rows[0])}", block.place(at))
        rows.append(row)
        lines.append(at)
    if not rows:
        raise DataError("E241", "a sentence without words", block.place())
    for name, number in {"word": options.word, **options.column}.items():
        if not -len(rows[0]) <= number < len(rows[0]):
            raise DataError("E242", f"no column {number} ('{name}') among {len(rows[0])}", block.place(lines[0]))
    words = tuple(row[options.word] for row in rows)
    for at, word in zip(lines, words, strict=True):
        if not word.strip():
            raise DataError("E243", "a line without a word", block.place(at))
    layers: dict[str, Layer] = {}
    for name, number in options.column.items():
        tags = tuple(row[number] for row in rows)
        layers[name] = _spans(tags, options.spans[name], block, lines) if name in options.spans else tags
    return Sentence(str(block.number), words, layers, (block.file, block.first + lines[0]))


def _spans(tags: tuple[str, ...], scheme: Scheme, block: Block, lines: list[int]) -> tuple[str, ...]:
    """Check span tags; IOB1 becomes IOB2."""
    read = []
    before, label_before = "O", ""
    for tag, at in zip(tags, lines, strict=True):
        prefix, dash, label = tag.partition("-")
        if tag != "O" and not (dash and label and prefix in _PREFIXES[scheme]):
            raise DataError("E244", f"'{tag}' is not an {scheme.upper()} tag", block.place(at))
        inside = before in "IB" and label == label_before
        if scheme == "iob1":
            tag = f"B-{label}" if prefix == "I" and not inside else tag  # noqa: PLW2901
        elif prefix in "IE" and not inside:
            raise DataError("E245", f"'{tag}' continues no {label} span", block.place(at))
        elif scheme == "iobes" and prefix in "OBS" and before in "IB":
            raise DataError("E246", f"'{tag}' leaves a {label_before} span without its end", block.place(at))
        read.append(tag)
        before, label_before = prefix, label
    if scheme == "iobes" and before in "IB":
        raise DataError("E247", f"the {label_before} span is not ended", block.place(lines[-1]))
    return tuple(read)
