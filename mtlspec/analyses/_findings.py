"""What an analysis leaves behind, in one form that the report can show without knowing the analysis."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mtlspec.analyses._tables import Table
from mtlspec.io.write import write_json


@dataclass(frozen=True)
class Figure:
    """`figures/<name>.svg` and `figures/<name>.png`, drawn by `mtlspec.analyses._figures`."""

    name: str
    title: str
    caption: str


@dataclass(frozen=True)
class Findings:
    """`summary` holds one plain sentence for each finding, the most important first."""

    type: str
    title: str
    summary: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]

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
        )
