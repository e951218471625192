"""JSON objects as rows: read without trust, their fields named by dotted paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mtlspec.data.blocks import Block
from mtlspec.data.malformed import refuse
from mtlspec.data.readers._examples import Column
from mtlspec.errors import DataError, did_you_mean
from mtlspec.spec.words import shorten, show


def record(block: Block) -> dict[str, Any]:
    """The object of a block of one line."""
    try:
        found = json.loads(block.lines[0], object_pairs_hook=_once, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        hint = "one JSON object a line; is the line cut off?"
        raise DataError("E720", f"not JSON: {error.msg}", block.place(0, error.colno), hint) from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else shorten(str(error))
        raise DataError("E721", f"JSON that cannot be used: {reason}", block.place()) from None
    if not isinstance(found, dict):
        raise DataError("E722", f"an example must be a JSON object, not {show(found)}", block.place())
    return found


def field(record: dict[str, Any], place: Column) -> Any:
    """What stands at a dotted path, `answers.text.0`; None where a part of it is not there.

    A field whose own name has dots is found first.
    """
    if place in record:
        return record[str(place)]
    found: Any = record
    for part in str(place).split("."):
        if isinstance(found, dict):
            found = found.get(part)
        elif isinstance(found, list) and part.isascii() and part.isdigit() and len(part) < 9 and int(part) < len(found):
            found = found[int(part)]
        else:
            return None
    return found


def require_fields(needed: Sequence[Column], blocks: Iterable[Block], path: Path) -> None:
    """An error for a field that no object of a file has; it is read until all were met, as a rule one line."""
    lacking, seen = list(needed), dict[str, None]()
    for block in blocks:
        try:
            found = record(block)
        except DataError:
            continue  # whoever reads it says what is wrong
        seen |= dict.fromkeys(found)
        lacking = [place for place in lacking if place not in found and field(found, place) is None]
        if not lacking:
            return
    defects = []
    for place in map(str, lacking if seen else ()):
        hint = did_you_mean(place, seen) or f"it has, among others: {', '.join(list(seen)[:8])}"
        defects.append(DataError("E738", f"the file has no field '{shorten(place)}'", path, hint))
    refuse(defects)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the field '{next(name for name in names if names.count(name) > 1)}' stands twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
