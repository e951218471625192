"""A card's files at hand: where they lie, or generated into a folder that goes away."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mtlspec.data.pins import resolve_root
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard


@contextmanager
def card_folder(card: DataCard, project: Project) -> Iterator[Path]:
    """The folder of a card's files, for as long as the block lasts."""
    if card.generator is None:
        yield resolve_root(card, project)
        return
    with tempfile.TemporaryDirectory(prefix="mtlspec-") as folder:
        card.generator.generate(Path(folder))
        yield Path(folder)
