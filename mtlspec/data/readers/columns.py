"""Columns of tags, a word a line and a blank line between sentences: CoNLL-2000, CoNLL-2003, two-column TSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from mtlspec.data.blocks import Block, cells, paragraphs, partial_tags
from mtlspec.data.malformed import refuse
from mtlspec.data.readers import _schemes
from mtlspec.data.sentence import Layer, Sentence
from mtlspec.errors import DataError
from mtlspec.io.words import counted
from mtlspec.kinds import Sequence_
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind

_SEPARATORS = {"tab": "\t", "space": " "}
_UNKNOWN = "\0"  # every cell of a line with too few or too many; no file holds it


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

    missing: Sequence_[str] = Field(
        default=("", "_"), description="Texts of a tag column that mean: this word has no tag."
    )

    def problem(self) -> str | None:
        unknown = sorted(self.spans.keys() - self.column.keys())
        return f"`spans` names '{unknown[0]}', which `column` does not" if unknown else None

    def layer_kind(self, column: str) -> LayerKind | None:
        return "tags" if column in self.column else None

    def column_names(self) -> tuple[str, ...]:
        return tuple(self.column)

    def blocks(self, path: Path) -> Iterator[Block]:
        """Document lines of CoNLL-2003 are no sentences; neither are comments on their own."""
        for block in paragraphs(path, skip=("-DOCSTART-",)):
            comment = self.comment
            if comment is None or not all(line.startswith(comment) for line in block.lines):
                yield block

    def parse(self, block: Block) -> Sentence:
        """One sentence from its lines."""
        rows, lines, defects = self._rows(block)
        width = len(rows[0])
        absent = [
            DataError("E242", f"no column {number} ('{name}') among {width}", block.place(lines[0]))
            for name, number in {"word": self.word, **self.column}.items()
            if not -width <= number < width
        ]
        refuse([*defects, *absent] if absent else ())
        words = tuple(row[self.word] for row in rows)
        defects += [
            DataError("E243", "a line without a word", block.place(at))
            for at, word in zip(lines, words, strict=True)
            if not word.strip()
        ]
        layers: dict[str, Layer] = {}
        missing = (*self.missing, _UNKNOWN)
        for name, number in self.column.items():
            for tags in partial_tags({name: [row[number] for row in rows]}, missing).values():
                spans = self.spans.get(name)
                found = _schemes.checked(tags, spans, self.convert, block, lines, defects) if spans else tags
                layers[name] = found
        refuse(defects)
        documents = tuple(line for _, line in block.before)
        return Sentence(str(block.number), words, layers, (block.file, block.first + lines[0]), documents)

    def line(self, block: Block, word: int) -> int:
        return self._rows(block)[1][word]

    def _rows(self, block: Block) -> tuple[list[list[str]], list[int], list[DataError]]:
        """The rows that are words, the block's line of each, and defects: those that are not as wide as most are.

        Nothing is known of their cells, so that the tags of the others can still be asked whether they fit together.
        """
        separator = _SEPARATORS.get(self.delimiter, self.delimiter)
        rows: list[list[str]] = []
        lines: list[int] = []
        for at, line in enumerate(block.lines):
            if self.comment and line.startswith(self.comment):
                continue
            row = cells(line) if separator == "blank" else line.split(separator)
            rows.append(row)
            lines.append(at)
        if all(len(row) == len(rows[0]) for row in rows):
            return rows, lines, []
        width, _ = Counter(map(len, rows)).most_common(1)[0]
        defects = [
            DataError("E240", f"{counted(len(row), 'column')} instead of {width}", block.place(at))
            for at, row in zip(lines, rows, strict=True)
            if len(row) != width
        ]
        return [row if len(row) == width else [_UNKNOWN] * width for row in rows], lines, defects
