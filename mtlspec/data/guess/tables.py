"""Tables: what separates their cells, whether quotes quote, and whether the first row names the columns."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from mtlspec.data.guess.reading import Reading
from mtlspec.data.guess.roles import KNOWN, NUMBER, Column, find_roles, profiles

_ALIKE = 0.95  # share of rows that must be equally wide
_LONGEST_NAME = 40  # characters of a column's name
_WAYS = (("tab", "\t", False), ("tab", "\t", True), ("comma", ",", True), ("semicolon", ";", True), ("|", "|", False))
Rows = list[list[str]]


def guess_tables(lines: Sequence[str]) -> Iterator[Reading]:
    """Every way in which the lines are a table of examples, the likeliest first."""
    filled = [line for line in lines if line]
    for delimiter, sign, quoted in _WAYS:
        rows = _cut(filled, sign, quoted)
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (0, 0)
        if width > 1 and count >= _ALIKE * len(rows):
            options: dict[str, Any] = {"type": "table"} | ({"delimiter": delimiter} if delimiter != "tab" else {})
            options |= {"quotes": "csv"} if quoted else {}
            yield from _reading([row for row in rows if len(row) == width], options)
    yield from _labelled_lines(filled)


def _cut(lines: Sequence[str], sign: str, quoted: bool) -> Rows:
    if not quoted:
        return [line.split(sign) for line in lines]
    if not any('"' in line for line in lines) and sign == "\t":
        return []  # the same as without quoting
    try:
        return list(csv.reader("\n".join(lines).splitlines(), delimiter=sign, strict=True))
    except csv.Error:
        return []


def _reading(rows: Rows, options: dict[str, Any]) -> Iterator[Reading]:
    header = _has_header(rows)
    body = rows[1:] if header else rows
    names: Sequence[Column] = rows[0] if header else range(len(rows[0]))
    if not body or len(set(names)) < len(names):
        return
    columns = {name: [row[at] for row in body] for at, name in enumerate(names)}
    roles = find_roles(columns)
    if roles is None:
        return
    signs = {"comma": "commas", "semicolon": "semicolons", "|": "bars"}.get(options.get("delimiter", ""), "tabs")
    what = f"a table of {len(names)} columns, separated by {signs}, {'with a' if header else 'without a'} header"
    options = options | ({} if header else {"header": False}) | roles.options
    yield Reading(what, options, roles.layers, header, header and roles.told, roles.seen, roles.doubts)


def _has_header(rows: Rows) -> bool:
    """Whether the first row names columns: short, different, no numbers, and unlike what stands below."""
    top = [cell.strip() for cell in rows[0]]
    named = [cell for cell in top if cell]
    if len(named) < len(top) - 1 or len(set(top)) < len(top) or not named:
        return False
    if any(len(cell) > _LONGEST_NAME or NUMBER.fullmatch(cell) for cell in named):
        return False
    if any(cell.lower() in KNOWN for cell in named):
        return True
    below = profiles({at: [row[at] for row in rows[1:]] for at in range(len(top))})
    return any(
        profile.numeric or (profile.is_class and top[int(at)] not in profile.cells) for at, profile in below.items()
    )


def _labelled_lines(lines: Sequence[str]) -> Iterator[Reading]:
    """`label text`: the first word of every line is one of few."""
    parts = [line.split(" ", 1) for line in lines]
    if len(lines) < 10 or any(len(part) < 2 or not part[1].strip() for part in parts):
        return
    labels = Counter(part[0] for part in parts)
    if not 1 < len(labels) <= 50 or len(labels) > len(lines) / 5 or min(labels.values()) < 2:
        return
    roles = find_roles({0: [part[0] for part in parts], 1: [part[1] for part in parts]})
    if roles is None or "label" not in roles.options:
        return
    options = {"type": "table", "header": False, "delimiter": "space", "cuts": 1, **roles.options}
    yield Reading("lines of a label and a text", options, roles.layers, False, True, roles.seen)
