"""Corpora read before anything runs, as far as that is quick; what was read once is remembered by its digests."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from mtlspec.data.files import card_files
from mtlspec.data.survey import Labels, survey
from mtlspec.io.digest import digest_value
from mtlspec.io.project import Project
from mtlspec.io.write import write_json
from mtlspec.plan.builder import dump
from mtlspec.plan.code import code_unit, kinds_in, layer_modules
from mtlspec.spec.cards import DataCard

QUICK = 3e6  # bytes of all corpora that are read anew: less than half a second


@dataclass
class Surveys:
    """What the corpora of one command hold, of those whose files are the pinned ones."""

    project: Project
    left: float = field(default_factory=lambda: QUICK)  # bytes that may still be read
    found: dict[str, dict[str, Labels]] = field(default_factory=dict)  # card -> layer -> labels
    unread: set[str] = field(default_factory=set)  # cards

    def read(self, card: DataCard, root: Path, pinned: bool) -> None:
        """An error has all defects; a corpus that is too large for what is left is only noted.

        So is one of which nobody knows whether its files are the pinned ones, under which it would be remembered.
        """
        if not pinned:
            self.unread.add(card.name)
            return
        path = self.project.state / "surveys" / f"{_key(card)}.json"
        known = _remembered(path)
        if known is None:
            size = sum((root / name).stat().st_size for name in card_files(card, root))
            if size > self.left:
                self.unread.add(card.name)
                return
            self.left -= size
            known = survey(card, root)
            write_json(self.project.inside(path), {layer: labels._asdict() for layer, labels in known.items()})
        self.found[card.name] = known


def _key(card: DataCard) -> str:
    """Of the card, digests of its files included, and of the code that reads them."""
    unit = code_unit("data", tuple(kinds_in((card.files, layer_modules(card)))))
    return digest_value({"card": dump(card), "code": unit.files})[:32]


def _remembered(path: Path) -> dict[str, Labels] | None:
    with suppress(OSError, ValueError, TypeError, AttributeError):  # this folder may be deleted or damaged at any time
        stored = json.loads(path.read_bytes())
        return {layer: Labels(tuple(found["train"]), tuple(found["unseen"])) for layer, found in stored.items()}
    return None
