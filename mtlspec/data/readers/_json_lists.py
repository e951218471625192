"""Lists in a JSON file, element by element, each with its place; nothing but the element at hand becomes objects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from mtlspec.data.blocks import lines
from mtlspec.errors import DataError, Place
from mtlspec.spec.words import shorten

_LONGEST = 2**30  # bytes: all of such a file may stand in one line
_BLANKS = " \t\n\r"
_DECODER = json.JSONDecoder()


def whole_text(path: Path) -> str:
    """All of a file, plain or packed."""
    return "\n".join(lines(path, _LONGEST))


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Errors of what is read meanwhile name the file, and the place if the file is not JSON."""
    try:
        yield
    except JSONDecodeError as error:
        place = Place(str(path), error.lineno, error.colno)
        raise DataError("E770", f"not JSON: {error.msg}", place, "is the file cut off?") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else shorten(str(error))
        raise DataError("E771", f"JSON that cannot be used: {reason}", path) from None


def elements(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Where each element of the list that starts at `at` starts, and behind its end."""
    first = True
    while True:
        at = skipped(text, at + 1)
        if text[at : at + 1] == "]" and first:
            return
        _, end = _DECODER.raw_decode(text, at)
        first = False
        yield at, end
        at = skipped(text, end)
        if text[at : at + 1] == "]":
            return
        if text[at : at + 1] != ",":
            raise JSONDecodeError("Expecting ',' delimiter", text, at)


def value_of(name: str, text: str, at: int) -> int | None:
    """Where the value of a field starts, of the object that starts at `at`; None if it has no such field."""
    seen = text[at : at + 1]
    while seen in ("{", ",") and seen:
        at = skipped(text, at + 1)
        if text[at : at + 1] == "}":
            break
        key: Any
        key, at = _DECODER.raw_decode(text, at)
        at = skipped(text, at)
        if text[at : at + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", text, at)
        at = skipped(text, at + 1)
        if key == name:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at = skipped(text, at)
        seen = text[at : at + 1]
    return None


def skipped(text: str, at: int) -> int:
    """The next place that is not blank."""
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at
