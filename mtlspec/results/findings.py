"""What an analysis leaves behind, in one form that the report can show without knowing the analysis."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mtlspec.io.write import write_json
from mtlspec.results.tables import Table


@dataclass(frozen=True)
class Figure:
    """`figures/<name>.svg` and `figures/<name>.png`, drawn by `mtlspec.results.figures`."""

    name: str
    title: str
    caption: str


@dataclass(frozen=True)
class Findings:
    """`summary` holds one plain sentence for each finding, the most important first.

    Who computes with what an analysis found reads `numbers`, never the cells of a table, which are made to be looked
    at.
    """

    type: str
    title: str
    summary: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    numbers: Mapping[str, Any] = field(default_factory=dict)  # JSON, in full precision

    def write(self, directory: Path) -> None:
        """`analysis.json` and `tables/`; the figures were drawn before."""
        for table in self.tables:
            table.write(directory / "tables")
        content: dict[str, Any] = {
            "type": self.type,
            "title": self.title,
            "summary": list(self.summary),
            "tables": [table.name for table in self.tables],
            "figures": [asdict(figure) for figure in self.figures],
        }
        if self.numbers:
            content["numbers"] = dict(self.numbers)
        write_json(directory / "analysis.json", content)

    @classmethod
    def read(cls, directory: Path) -> Findings:
        raw = json.loads((directory / "analysis.json").read_bytes())
        return cls(
            raw["type"],
            raw["title"],
            tuple(raw["summary"]),
            tuple(Table.read(directory / "tables" / f"{name}.json") for name in raw["tables"]),
            tuple(Figure(**figure) for figure in raw["figures"]),
            raw.get("numbers", {}),
        )
