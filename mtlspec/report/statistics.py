"""Data statistics as tables, whatever the corpus has: one column a split where the figures are per split.

The shape of statistics.json is the data layer's business and grows with new layers, so nothing here names its keys.
A few figures that belong together become rows of one overview; a long mapping (labels, lengths) becomes its own table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mtlspec.analyses._tables import Cell, Table

Scalar = str | int | float | bool | None
Path = tuple[str, ...]
_SPLITS = ("train", "dev", "test")
_LONG = 8  # more entries than this are a distribution
_ALL = "all"


def statistics_tables(statistics: Mapping[str, Any]) -> tuple[Table, ...]:
    """The overview first, then one table a distribution."""
    values: dict[Path, dict[str, Scalar]] = {}
    for path, value in _leaves(statistics, ()):
        split = next((part for part in path if part in _SPLITS), _ALL)
        rest = tuple(part for part in path if part not in _SPLITS)
        values.setdefault(rest, {})[split] = value
    families: dict[Path, list[Path]] = {}
    for path in values:
        families.setdefault(path[:-1], []).append(path)
    long = [family for family, members in families.items() if len(members) > _LONG and family]
    short = [path for path in values if path[:-1] not in long]
    tables = [_table("data", "Overview", {" · ".join(path): values[path] for path in short})] if short else []
    for family in long:
        rows = {path[-1]: values[path] for path in families[family]}
        name = "data_" + "_".join(part for part in family)
        tables.append(_table(name, " · ".join(family), rows))
    return tuple(tables)


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Scalar]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        if all(isinstance(item, str) for item in value):
            yield path, ", ".join(value)
        else:
            for index, item in enumerate(value):
                yield from _leaves(item, (*path, str(index)))
    else:
        yield path, value


def _table(name: str, title: str, rows: Mapping[str, Mapping[str, Scalar]]) -> Table:
    used = {split for row in rows.values() for split in row}
    columns = tuple(split for split in (*_SPLITS, _ALL) if split in used)
    titles = ("", *("" if column == _ALL and len(columns) == 1 else column for column in columns))
    body = tuple((Cell(label, label), *(_cell(row.get(column)) for column in columns)) for label, row in rows.items())
    safe = "".join(character if character.isalnum() else "_" for character in name)
    return Table(safe, title, "", titles, (("", body),))


def _cell(value: Scalar) -> Cell:
    if value is None:
        return Cell()
    if isinstance(value, bool | str):
        return Cell(str(value), str(value))
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    return Cell(text, value)
