"""A chapter of the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mtlspec.results.findings import Figure
from mtlspec.results.tables import Table


@dataclass(frozen=True)
class Section:
    """One chapter of the report; `figures` come with the file that holds them, without its suffix."""

    anchor: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[tuple[Figure, Path], ...]
    folded: bool = False  # whether its tables are closed on screens until a reader opens them
