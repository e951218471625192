"""What the files of a card hold, read once and quickly: are they sound, and which labels do their layers have?"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mtlspec.data.defects import check_splits
from mtlspec.data.layer_kinds import layer_kind
from mtlspec.data.sentence import Sentence
from mtlspec.spec.cards import DataCard


class Labels(NamedTuple):
    """Those of one layer."""

    train: tuple[str, ...]
    unseen: tuple[str, ...]  # that only other splits have


def survey(card: DataCard, root: Path) -> dict[str, Labels]:
    """Layer -> its labels, both sorted; an error has all defects of all splits."""
    kinds = {layer: layer_kind(kind) for layer, kind in card.layer_kinds.items()}
    met: dict[str, dict[bool, set[str]]] = {layer: {True: set(), False: set()} for layer in kinds}

    def see(split: str, sentence: Sentence) -> None:
        for layer, value in sentence.layers.items():
            met[layer][split == "train"].update(kinds[layer].targets(value))

    check_splits(card, root, see)
    return {layer: Labels(tuple(sorted(m[True])), tuple(sorted(m[False] - m[True]))) for layer, m in met.items()}
