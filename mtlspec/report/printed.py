"""Tables of a paper as they are printed."""

from __future__ import annotations

from mtlspec.results.tables import Cell, Table
from mtlspec.spec.published import Figure, PublishedTable


def printed_table(table: PublishedTable) -> Table:
    """With nothing of ours beside it."""
    rows = tuple((Cell(str(cells[0]), str(cells[0])), *map(printed_cell, cells[1:])) for cells in table.rows)
    return Table(f"paper_{table.id}", f"Published: {table.title}", "As printed.", table.columns, (("", rows),))


def printed_cell(figure: Figure) -> Cell:
    if figure is None or isinstance(figure, str):
        return Cell(figure or "–")
    mean, std = figure if isinstance(figure, tuple) else (figure, None)
    return Cell(f"{mean:g}".replace("-", "−") + ("" if std is None else f" ± {std:g}"), mean, std)
