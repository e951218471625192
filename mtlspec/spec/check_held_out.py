"""What a card holds out of its training files."""

from __future__ import annotations

from collections.abc import Iterator

from mtlspec.errors import SpecError
from mtlspec.spec.cards import DataCard
from mtlspec.spec.nodes import Node


def check_held_out(card: DataCard, node: Node) -> Iterator[SpecError]:
    """Only a split without files can be held out, and something must be left to train on."""
    if card.hold_out is None:
        return
    shares = card.hold_out.shares
    for split in shares:
        if any(group.entries(split) for group in card.files):
            place = node.near(("hold_out", split)).key or node.place
            yield SpecError(
                "E801", f"the split '{split}' has files, so it cannot be held out", place, "leave one of them out"
            )
    place = node.near(("hold_out",)).place
    if not shares:
        yield SpecError("E805", "`hold_out` names no split", place, "say `dev`, `test` or both")
    elif sum(shares.values()) >= 1:
        yield SpecError("E806", "`hold_out` leaves nothing to train on", place, "the shares must sum to less than 1")
