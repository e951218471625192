"""What an encoder source is asked for: fill a directory with config, weights and tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard


@dataclass(frozen=True)
class Request:
    """The sources' `fetch(request)` write below `out` and return facts for the record."""

    name: str  # of the card
    out: Path
    project_root: Path
    inputs: Mapping[str, Path]  # role -> artifact: `data`, or `data-<corpus>`, for sources that learn from it
    data_card: DataCard | None  # what those data are
    device: str
    progress: Callable[[int, int, str], None]  # (done, total, what)
    weights: bool = True  # False: the encoder learns its own, and a tokenizer is enough
    data_cards: Mapping[str, DataCard] = field(default_factory=dict)  # corpus -> card, for one that learns from all

    @property
    def card_file(self) -> Path:
        """Where the card is, unless a spec holds it."""
        return Project(self.project_root).encoder_cards / f"{self.name}.yaml"
