"""Data statistics as tables of the report: the same numbers that `mtlspec data stats` shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtlspec.data.statistics import statistics_rows
from mtlspec.results.tables import Cell, Table
from mtlspec.spec.cards import SPLITS


def statistics_tables(statistics: Mapping[str, Any]) -> tuple[Table, ...]:
    """Tables without rows are left out."""
    made = []
    for title, columns, rows in statistics_rows(_in_reading_order(statistics)):
        filled = [row for row in rows if any(row[1:])]
        if filled:
            cells = tuple(tuple(_cell(text) for text in row) for row in filled)
            made.append(Table(_name(title), title, "", columns, (("", cells),)))
    return tuple(made)


def _in_reading_order(statistics: Mapping[str, Any]) -> dict[str, Any]:
    """JSON files have sorted keys; readers want train before dev, and frequent labels at the top."""
    splits = tuple(dict.fromkeys((*SPLITS, *sorted(statistics["sentences"]))))
    ordered = {key: _splits_first(value, splits) for key, value in statistics.items()}
    ordered["labels"] = {layer: _by_frequency(counts, splits) for layer, counts in statistics["labels"].items()}
    return ordered


def _splits_first(value: Any, splits: Sequence[str]) -> Any:
    if not isinstance(value, Mapping) or not set(value) <= set(splits):
        return value
    return {split: value[split] for split in splits if split in value}


def _by_frequency(counts: Mapping[str, Mapping[str, int]], splits: Sequence[str]) -> dict[str, Any]:
    ordered = sorted(counts, key=lambda label: (*(-counts[label].get(split, 0) for split in splits), label))
    return {label: _splits_first(counts[label], splits) for label in ordered}


def _cell(text: str) -> Cell:
    try:
        number: int | float = int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            return Cell(text, text)
    return Cell(f"{number:,}", number)


def _name(title: str) -> str:
    """A file name: the title up to its bracket."""
    words = title.partition("(")[0].lower().split()
    return "data_" + "_".join("".join(c for c in word if c.isalnum() or c == "_") for word in words)
