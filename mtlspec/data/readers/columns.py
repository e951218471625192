"""Columns of tags, a word a line and a blank line between sentences: CoNLL-2000, CoNLL-2003, two-column TSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from mtlspec.data.readers import _schemes
from mtlspec.data.readers._blocks import Block, cells, paragraphs
from mtlspec.data.sentence import Layer, Sentence
from mtlspec.errors import DataError, did_you_mean
from mtlspec.spec.families import LayerKind, ReaderOptions

_SEPARATORS = {"tab": "\t", "space": " "}


class Options(ReaderOptions):
    type: Literal["columns"]
    column: dict[str, int] = Field(description="Column name -> its number from 0; negative ones count from the end.")
    word: int = Field(default=0, description="The column of the words.")
    delimiter: str = Field(
        default="blank",
        min_length=1,
        description="`blank` (any run of blanks and tabs), `tab`, `space`, or the characters themselves, such as `;`.",
    )
    comment: str | None = Field(default=None, min_length=1, description="Lines that start with this are no words.")
    spans: dict[str, _schemes.Scheme] = Field(
        default_factory=dict,
        description="Columns of span tags and their scheme (`iob1`, `iob2`, `iobes`): every tag is checked.",
    )
    convert: Literal["iob2", "iobes"] | None = Field(
        default=None, description="The scheme to read them as; null keeps theirs, but for `iob1`, which becomes `iob2`."
    )

    def layer_kind(self, column: str) -> LayerKind | None:
        return "tags" if column in self.column else None

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.column)


def read(options: Options, path: Path) -> Iterator[Sentence]:
    """Stream the sentences of a file; a defect ends the stream with its place."""
    return (parse(options, block) for block in blocks(options, path))


def blocks(options: Options, path: Path) -> Iterator[Block]:
    """Document lines of CoNLL-2003 are no sentences; neither are comments on their own."""
    unknown = sorted(options.spans.keys() - options.column.keys())
    if unknown:
        hint = did_you_mean(unknown[0], options.column)
        raise DataError("E277", f"`spans` names '{unknown[0]}', which `column` does not", path, hint)
    for block in paragraphs(path, skip=("-DOCSTART-",)):
        comment = options.comment
        if comment is None or not all(line.startswith(comment) for line in block.lines):
            yield block


def parse(options: Options, block: Block) -> Sentence:
    """One sentence from its lines."""
    rows, lines = _rows(options, block)
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
        if "" in tags:
            raise DataError("E248", f"the column '{name}' is empty", block.place(lines[tags.index("")]))
        if name in options.spans:
            tags = _schemes.checked(tags, options.spans[name], options.convert, block, lines)
        layers[name] = tags
    documents = tuple(line for _, line in block.before)
    return Sentence(str(block.number), words, layers, (block.file, block.first + lines[0]), documents)


def _rows(options: Options, block: Block) -> tuple[list[list[str]], list[int]]:
    """The rows that are words, all of one width, and the block's line of each."""
    separator = _SEPARATORS.get(options.delimiter, options.delimiter)
    rows: list[list[str]] = []
    lines: list[int] = []
    for at, line in enumerate(block.lines):
        if options.comment and line.startswith(options.comment):
            continue
        row = cells(line) if separator == "blank" else line.split(separator)
        if rows and len(row) != len(rows[0]):
            raise DataError("E240", f"{len(row)} columns instead of {len(rows[0])}", block.place(at))
        rows.append(row)
        lines.append(at)
    return rows, lines
