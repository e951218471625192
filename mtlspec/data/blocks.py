"""Files as blocks of lines, one block a sentence: what all readers have in common."""

from __future__ import annotations

import gzip
import math
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtlspec.errors import DataError, Place


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one sentence, with the file and the 1-based number of the first; `number` counts blocks from 1.

    `before` are the lines (and their numbers) skipped since the last block, such as the start of a document.
    """

    file: str
    number: int
    first: int
    lines: tuple[str, ...]
    before: tuple[tuple[int, str], ...] = ()

    def place(self, line: int = 0, column: int = 0) -> Place:
        """The place of the block's line `line` (0-based)."""
        return Place(self.file, self.first + line, column)


_BLANKS = re.compile(r"[ \t]+")


def cells(line: str) -> list[str]:
    """The parts of a line between runs of blanks. Only those: a no-break space is part of a word."""
    return line.split() if line.isascii() else _BLANKS.split(line.strip(" \t"))


def no_file(path: Path) -> DataError:
    return DataError("E200", "the data file is missing", path)


LONGEST_LINE = 2**24  # bytes: a file of another sort may have no line ends at all
MOST_LINES = 10**6  # of a sentence: a file of another sort may have no blank lines at all
_MOST_TIMES = 100  # that a packed file may grow; text grows tenfold
_ALWAYS_UNPACKED = 2**26  # bytes, however small the packed file is


def lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[str]:
    """Lines of a UTF-8 file, plain or `.gz`, without line ends; a byte-order mark is skipped."""
    number = unpacked = 0
    packed = path.suffix == ".gz"
    try:
        limit = max(_ALWAYS_UNPACKED, _MOST_TIMES * path.stat().st_size) if packed else math.inf
        with gzip.open(path, "rb") if packed else path.open("rb") as file:
            for number, raw in enumerate(iter(lambda: file.readline(longest + 1), b""), 1):
                unpacked += len(raw)
                long = len(raw) > longest
                if unpacked > limit:
                    message = f"the file unpacks to more than {limit:,} bytes, {_MOST_TIMES} times its size"
                    hint = "if it is right, unpack it and name the plain file in the card"
                    raise DataError("E742", message, Place(str(path), number), hint)
                text = "" if long else raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if long or "\0" in text:
                    damage = f"a line of more than {longest:,} bytes" if long else "a line with a NUL byte"
                    raise DataError("E268", damage, Place(str(path), number), "is this a text file, and a whole one?")
                yield text.rstrip("\r\n")
    except FileNotFoundError:
        raise no_file(path) from None
    except UnicodeDecodeError as error:
        raise DataError("E201", f"not UTF-8: {error.reason}", Place(str(path), number)) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError("E202", f"not a complete gzip file: {error}", Place(str(path), number)) from None
    except OSError as error:
        raise DataError("E203", f"the data file cannot be read: {error.strerror}", path) from None


def endless(path: Path, first: int, hint: str) -> DataError:
    """A sentence that holds what must be several, or something else."""
    return DataError("E741", f"a sentence of more than {MOST_LINES:,} lines", Place(str(path), first), hint)


def partial_tags(columns: Mapping[str, Sequence[str]], missing: Collection[str]) -> dict[str, tuple[str | None, ...]]:
    """Columns of tags in which some texts mean that a word has none; a column without any tag is left out."""
    found = {}
    for name, tags in columns.items():
        known = tuple(None if tag in missing else tag for tag in tags)
        if known.count(None) < len(known):
            found[name] = known
    return found


def paragraphs(path: Path, skip: tuple[str, ...] = (), to_the_end: bool = False) -> Iterator[Block]:
    """Blocks of lines between blank lines; lines that start with one of `skip` end a block too and belong to none.

    With `to_the_end`, skipped lines after the last sentence come as a block without lines of its own.
    """
    held: list[str] = []
    before: list[tuple[int, str]] = []
    number = place = 0
    for place, line in enumerate(lines(path), 1):
        skipped = bool(skip) and line.startswith(skip)
        if line.strip(" \t") and not skipped:
            held.append(line)
            if len(held) > MOST_LINES:
                raise endless(path, place - len(held) + 1, "blank lines separate sentences: is this the right reader?")
        elif held:
            number += 1
            yield Block(str(path), number, place - len(held), tuple(held), tuple(before))
            held, before = [], []
        if skipped:
            before.append((place, line))
    if held or (to_the_end and before):
        yield Block(str(path), number + 1, place - len(held) + 1, tuple(held), tuple(before))
