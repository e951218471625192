"""Files of rows: JSON lines, a JSON list, Arrow and Parquet; tables are next door."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from mtlspec.data.guess.reading import SAMPLE, Reading, fits
from mtlspec.data.guess.roles import Column, Roles, find_roles
from mtlspec.data.readers import arrow
from mtlspec.errors import DataError

_MAGIC = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")


def is_arrow(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6).startswith(_MAGIC)


def guess_arrow(path: Path) -> Reading | None:
    rows = islice((row for _, batch in arrow.batches(path) for row in batch), SAMPLE)
    placed = [(f"row {number}", row) for number, row in enumerate(rows, 1)]
    return _reading("Arrow or Parquet", {"type": "arrow"}, _roles(placed))


def guess_json(path: Path, lines: Sequence[str]) -> Reading | None:
    """Objects line by line, or one list of them, in the file or in a field of it."""
    filled = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not filled or filled[0][1].strip()[:1] not in ("{", "["):
        return None
    if all(_object(line) is not None for _, line in filled[:2]):
        return _reading("JSON lines", {"type": "jsonl"}, _roles(_objects(filled)))
    for under in (None, *_fields_with_lists(path)):
        options = {"type": "json", **({"under": under} if under is not None else {})}
        roles = _roles(_objects(_elements(options, path)))
        if roles is not None:
            what = f"a JSON list under '{under}'" if under is not None else "a JSON list"
            return _reading(what, options, roles)
    return None


def _reading(what: str, options: dict[str, Any], roles: Roles | None) -> Reading | None:
    if roles is None:
        return None
    return Reading(what, {**options, **roles.options}, roles.layers, True, roles.told, roles.seen, roles.doubts)


def _roles(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Roles | None:
    """Of rows with their places."""
    return find_roles(_columns(row for _, row in rows), [place for place, _ in rows]) if rows else None


def _objects(numbered: Iterable[tuple[int, str]]) -> list[tuple[str, dict[str, Any]]]:
    """Those of the texts that are objects, with the lines where they begin."""
    return [(f"line {number}", found) for number, text in numbered if (found := _object(text)) is not None]


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _elements(options: dict[str, Any], path: Path) -> list[tuple[int, str]]:
    from mtlspec import kinds
    from mtlspec.spec.families import READERS

    try:
        reader = kinds.load(READERS, "json").Options.model_validate(options)
        return [(block.first, block.lines[0]) for block in islice(reader.blocks(path), SAMPLE)]
    except DataError:
        return []


def _fields_with_lists(path: Path) -> list[str]:
    """Fields of a file that is one object; a huge one is not looked into."""
    if path.suffix == ".gz" or path.stat().st_size > 2**28:
        return []
    try:
        found = _object(path.read_text("utf-8"))
    except UnicodeDecodeError:
        return []
    return [name for name, value in (found or {}).items() if isinstance(value, list) and value]


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[Column, list[Any]]:
    """Fields, those of objects inside by dotted names."""
    flat = [_flat(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    return {name: [row.get(name) for row in flat] for name in names}


def _flat(row: Mapping[str, Any], above: str = "", depth: int = 3) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping) and depth:
            found |= _flat(value, f"{above}{name}.", depth - 1)
        else:
            found[f"{above}{name}"] = value
    return found


def fitting(readings: Iterable[Reading | None], path: Path) -> Reading | None:
    """The first that reads most of the file."""
    for reading in readings:
        if reading is not None:
            good, bad = fits(reading.reader, path)
            if good and bad <= good:
                return reading
    return None
