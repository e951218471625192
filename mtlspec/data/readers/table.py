"""Tables, an example a row: TSV as GLUE has it, where quotes are text, and CSV with its usual quoting."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from mtlspec.data.blocks import Block, lines
from mtlspec.data.malformed import Malformed, refuse
from mtlspec.data.readers._examples import Column, ExampleOptions
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place, did_you_mean
from mtlspec.io.words import counted
from mtlspec.spec.words import shorten

_DELIMITERS = {"tab": "\t", "comma": ",", "semicolon": ";", "space": " "}
Quotes = Literal["text", "csv"]


class Options(ExampleOptions):
    type: Literal["table"]
    header: bool = Field(default=True, description="The first row names the columns; without it they have numbers.")
    delimiter: str = Field(
        default="tab",
        min_length=1,
        description="`tab`, `comma`, `semicolon`, `space`, or the characters themselves, such as `|`.",
    )
    quotes: Quotes = Field(
        default="text",
        description='`text`: a quote is a character like any other, as in GLUE. `csv`: a cell in `"` may hold '
        'delimiters, line breaks and `""`, which is one quote.',
    )
    cuts: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="A row is cut at its first delimiters only, this many; the last cell is what is left."
    )

    @property
    def sign(self) -> str:
        """What separates the cells of a row."""
        return _DELIMITERS.get(self.delimiter, self.delimiter)

    def problem(self) -> str | None:
        named = [place for place in self.places() if isinstance(place, str)]
        if named and not self.header:
            return f"without `header` a column is a number, not '{shorten(named[0])}'"
        if self.quotes == "csv" and (len(self.sign) != 1 or self.sign == '"'):
            return "with `quotes: csv` the delimiter is one character, and no quote"
        if self.quotes == "csv" and self.cuts is not None:
            return "`cuts` and `quotes: csv` exclude each other"
        return super().problem()

    def blocks(self, path: Path) -> Iterator[Block]:
        """The rows below the header; each comes with the row that says how many columns there are."""
        number, top = 0, ("", 0)
        for first, row in _rows(path, self.skip, self.sign if self.quotes == "csv" else None):
            if not top[1]:
                top = ("\n".join(row), first)
                self._check_top(top[0], Place(str(path), first))
                if self.header:
                    continue
            number += 1
            yield Block(str(path), number, first, row, ((top[1], top[0]),))
        if not top[1]:
            hint = "its first row names the columns" if self.header else None
            raise DataError("E705", "the table is empty", path, hint)

    def parse(self, block: Block) -> Sentence:
        """One example; its row must be as wide as the table.

        A quote that is never closed, or only by the next one, makes one row of many: the defect says how many lines.
        """
        try:
            return self._parsed(block)
        except DataError as defect:
            if len(block.lines) == 1:
                raise
            rows = f" (a row of {len(block.lines)} lines)"
            told = [DataError(one.code, one.message + rows, one.place, one.hint) for one in defect.problems]
            whole = Malformed(told)
            whole.lines = len(block.lines)
            raise whole from None

    def _parsed(self, block: Block) -> Sentence:
        top = self._cut(block.before[0][1], Place(block.file, block.before[0][0]))
        row = self._cut("\n".join(block.lines), block.place())
        if len(row) != len(top):
            hint = "`on_invalid: drop` leaves such rows out"
            if self.quotes == "csv":
                hint = "a cell with a delimiter in it must stand in quotes"
            raise DataError("E701", f"{counted(len(row), 'cell')} instead of {len(top)}", block.place(), hint)
        return self.example(lambda place: row[_number(place, top)], block)

    def _check_top(self, text: str, place: Place) -> None:
        """Every column that is read is there, and once."""
        top = self._cut(text, place)
        defects = []
        for column in self.places():
            if isinstance(column, int):
                if not -len(top) <= column < len(top):
                    hint = "columns are counted from 0; is the delimiter right?"
                    defects.append(DataError("E706", f"no column {column} among {len(top)}", place, hint))
            elif column not in top:
                near = did_you_mean(column, top) if len(top) > 1 else "is the delimiter right?"
                defects.append(DataError("E702", f"the header has no column '{shorten(column)}'", place, near))
            elif top.count(column) > 1:
                hint = "give its number instead, from 0"
                defects.append(DataError("E703", f"the header names '{shorten(column)}' twice", place, hint))
        refuse(defects)

    def _cut(self, text: str, place: Place) -> Sequence[str]:
        if self.quotes == "text":
            return text.split(self.sign, -1 if self.cuts is None else self.cuts)
        return _cut_csv(text, self.sign, place)


def _number(place: Column, top: Sequence[str]) -> int:
    return place if isinstance(place, int) else top.index(place)


def _rows(path: Path, skip: int, quoted: str | None) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The number of a row's first line, and its lines: several only with quotes. Blank lines are no rows."""
    held: list[str] = []
    for number, line in enumerate(lines(path), 1):
        if number <= skip or (not line and not held):
            continue
        held.append(line)
        if quoted is not None and _is_open("\n".join(held), quoted) and len(held) < _MOST_LINES:
            continue
        yield number - len(held) + 1, tuple(held)
        held = []
    if held:
        yield number - len(held) + 1, tuple(held)


_MOST_LINES = 1000  # of one row; without a bound, a quote that is not closed would swallow the file
_EXPECTED = "expected after"  # the csv module's words for a quoted cell with more text behind it
_ENDS = ("unexpected end of data", "field larger than field limit")


def _is_open(text: str, delimiter: str) -> bool:
    """Whether a row ends inside a quoted cell."""
    if '"' not in text:
        return False
    try:
        next(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error as error:
        return str(error).startswith(_ENDS[0])
    return False


def _cut_csv(text: str, delimiter: str, place: Place) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True))
    except csv.Error as error:
        if str(error).startswith(_ENDS):
            hint = "close it, or say `quotes: text` if quotes are characters like any other"
            raise DataError("E704", "a quote of this row is not closed", place, hint) from None
        message, hint = "a carriage return in a cell without quotes", "such a cell must stand in quotes"
        if _EXPECTED in str(error):
            message, hint = "text follows the closing quote of a cell", 'write a quote inside of a cell as `""`'
        raise DataError("E707", message, place, hint) from None
