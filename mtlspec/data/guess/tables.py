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
Lines = Sequence[tuple[int, str]]  # with their numbers


def guess_tables(lines: Sequence[str]) -> Iterator[Reading]:
    """Every way in which the lines are a table of examples, the likeliest first."""
    filled = [(number, line) for number, line in enumerate(lines, 1) if line]
    for delimiter, sign, quoted in _WAYS:
        rows = _cut(filled, sign, quoted)
        width, count = Counter(len(row) for _, row in rows).most_common(1)[0] if rows else (0, 0)
        if width > 1 and count >= _ALIKE * len(rows):
            options: dict[str, Any] = {"type": "table"} | ({"delimiter": delimiter} if delimiter != "tab" else {})
            options |= {"quotes": "csv"} if quoted else {}
            wide = [(number, row) for number, row in rows if len(row) == width]
            yield from _reading([row for _, row in wide], [number for number, _ in wide], options)
    yield from _labelled_lines(filled)


def _cut(lines: Lines, sign: str, quoted: bool) -> list[tuple[int, list[str]]]:
    """Rows, with the numbers of the lines where they begin."""
    if not quoted:
        return [(number, line.split(sign)) for number, line in lines]
    if not any('"' in line for _, line in lines) and sign == "\t":
        return []  # the same as without quoting
    pieces = [(number, piece) for number, line in lines for piece in line.splitlines()]
    reader = csv.reader((piece for _, piece in pieces), delimiter=sign, strict=True)
    rows, begin = [], 0
    try:
        for row in reader:
            rows.append((pieces[begin][0], row))
            begin = reader.line_num
    except csv.Error:
        return []
    return rows


def _reading(rows: Rows, numbers: Sequence[int], options: dict[str, Any]) -> Iterator[Reading]:
    header = _has_header(rows)
    body = rows[1:] if header else rows
    names: Sequence[Column] = rows[0] if header else range(len(rows[0]))
    if not body or len(set(names)) < len(names):
        return
    columns = {name: [row[at] for row in body] for at, name in enumerate(names)}
    roles = find_roles(columns, [f"line {number}" for number in numbers[header:]])
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


def _labelled_lines(lines: Lines) -> Iterator[Reading]:
    """`label text`: the first word of every line is one of few."""
    parts = [line.split(" ", 1) for _, line in lines]
    if len(lines) < 10 or any(len(part) < 2 or not part[1].strip() for part in parts):
        return
    labels = Counter(part[0] for part in parts)
    if not 1 < len(labels) <= 50 or len(labels) > len(lines) / 5 or min(labels.values()) < 2:
        return
    columns: dict[Column, list[str]] = {at: [part[at] for part in parts] for at in (0, 1)}
    roles = find_roles(columns, [f"line {number}" for number, _ in lines])
    if roles is None or "label" not in roles.options:
        return
    options = {"type": "table", "header": False, "delimiter": "space", "cuts": 1, **roles.options}
    yield Reading("lines of a label and a text", options, roles.layers, False, True, roles.seen)
