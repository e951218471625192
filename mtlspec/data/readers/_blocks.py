"""Files as blocks of lines, one block a sentence: what all readers have in common."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mtlspec.errors import DataError, Place


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one sentence, with the file and the 1-based number of the first; `number` counts blocks from 1."""

    file: str
    number: int
    first: int
    lines: tuple[str, ...]

    def place(self, line: int = 0, column: int = 0) -> Place:
        """The place of the block's line `line` (0-based)."""
        return Place(self.file, self.first + line, column)


def lines(path: Path) -> Iterator[str]:
    """Lines of a UTF-8 file, plain or `.gz`, without line ends; a byte-order mark is skipped."""
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                yield raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except FileNotFoundError:
        raise DataError("E200", "the data file is missing", path) from None
    except UnicodeDecodeError as error:
        raise DataError("E201", f"not UTF-8: {error.reason}", Place(str(path), number)) from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError("E202", f"not a complete gzip file: {error}", Place(str(path), number)) from None
    except OSError as error:
        raise DataError("E203", f"the data file cannot be read: {error.strerror}", path) from None


def paragraphs(path: Path, skip: tuple[str, ...] = ()) -> Iterator[Block]:
    """Blocks of lines between blank lines; lines that start with one of `skip` end a block too and belong to none."""
    held: list[str] = []
    number = place = 0
    for place, line in enumerate(lines(path), 1):
        if line.strip() and not (skip and line.startswith(skip)):
            held.append(line)
        elif held:
            number += 1
            yield Block(str(path), number, place - len(held), tuple(held))
            held = []
    if held:
        yield Block(str(path), number + 1, place - len(held) + 1, tuple(held))
