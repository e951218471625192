"""How much two sentences of the small English say the same, from 5 (the same) to 0.

One is active, the other passive, which costs nothing. The second is the first one after edits of known weight: the
heaviest, exchanged roles and a verb of another meaning, are those that no list of words shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._events import Event, event
from mtlspec.data.generators._examples import Example, ExampleOptions, Size, spelled

WEIGHTS = {"roles": 2.0, "meaning": 2.0, "negation": 1.0, "day": 0.5}
"""What an edit takes from 5; less than nothing does not remain."""


class Options(ExampleOptions):
    header: ClassVar = ("sentence1", "sentence2", "similarity")
    classes: ClassVar = ("0", "1", "2", "3", "4", "5")  # numbers are rounded to one of them, up from a half
    type: Literal["english_similarity"]
    train: Size = Field(default=2000, description="Training examples.")

    def draw(self, dice: Dice, wanted: str) -> Example:
        edits = _edits(dice)
        while int(similarity(edits) + 0.5) != int(wanted):
            edits = _edits(dice)
        first = replace(event(dice), negated=dice.chance(0.5))
        second = _edited(dice, first, edits)
        if dice.chance(0.5):
            first, second = second, first
        passive = dice.chance(0.5)
        return Example((spelled(first.said(passive)), spelled(second.said(not passive))), str(similarity(edits)))


def similarity(edits: Sequence[str]) -> float:
    return max(5.0 - sum(WEIGHTS[edit] for edit in edits), 0.0)


def _edits(dice: Dice) -> list[str]:
    return [edit for edit in WEIGHTS if dice.chance(0.5)]


def _edited(dice: Dice, first: Event, edits: Sequence[str]) -> Event:
    """Verbs are another word in any case, so that another word says nothing."""
    second = first.reworded(dice, "meaning" not in edits)
    if "roles" in edits:
        second = second.exchanged()
    if "negation" in edits:
        second = replace(second, negated=not second.negated)
    return replace(second, day="") if "day" in edits else second
