"""The corpora of an experiment, as the report shows them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mtlspec.report.statistics import statistics_tables
from mtlspec.results.tables import Table


@dataclass(frozen=True)
class Corpus:
    """A corpus with its card and the tables of its statistics."""

    name: str
    card: Mapping[str, Any]
    statistics: tuple[Table, ...]
    counts: Mapping[str, Any]  # the statistics themselves, as prepared data hold them

    @property
    def facts(self) -> list[tuple[str, str]]:
        card = self.card
        facts = [("Corpus", str(card.get("title") or card["name"])), ("Licence", str(card["licence"]))]
        facts += [("Source", str(card["source"])), ("Malformed sentences", str(card["on_invalid"]))]
        return facts + [(f"sha256 of {name}", digest) for name, digest in sorted(card["sha256"].items())]


def read_corpora(
    cards: Mapping[str, Any], inputs: Mapping[str, Path], first: Iterable[str | None]
) -> tuple[Corpus, ...]:
    """All of them, those of `first` before the others; tables of several corpora carry their names."""
    found = []
    for name in dict.fromkeys([*(name for name in first if name is not None), *cards]):
        counts = json.loads((inputs[f"prepare-{name}"] / "statistics.json").read_bytes())
        tables = statistics_tables(counts)
        if len(cards) > 1:
            tables = tuple(
                replace(table, name=f"{table.name}_{name}", title=f"{name}: {table.title}") for table in tables
            )
        found.append(Corpus(name, cards[name], tables, counts))
    return tuple(found)
