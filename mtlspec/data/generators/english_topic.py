"""What a sentence of the small English is about: one of four topics, that of its main clause.

Most sentences have a second clause of another topic, before, behind or inside the main one, so that words alone name
two topics.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.data.generators._clausal import NAMED, clause, relative, subordinate, takes_person
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._examples import Example, ExampleOptions, Size, spelled

TOPICS = {
    "business": ("acquire", "earn", "fall", "invest_in"),
    "culture": ("write",),
    "food": ("eat",),
    "politics": ("discuss", "turn_down"),
}
_SHAPES = (("plain", 1.0), ("subordinate", 2.0), ("relative", 1.0))


class Options(ExampleOptions):
    header: ClassVar = ("sentence", "topic")
    classes: ClassVar = tuple(TOPICS)
    type: Literal["english_topic"]
    train: Size = Field(default=3000, description="Training examples.")

    def draw(self, dice: Dice, wanted: str) -> Example:
        shape = dice.weighted(_SHAPES)
        main = NAMED[dice.one(TOPICS[wanted])]
        other = dice.one([topic for topic in TOPICS if topic != wanted])
        aside = NAMED[dice.one(TOPICS[other])]
        negated = dice.chance(0.1)
        if shape == "relative" and takes_person(main) and takes_person(aside):
            body = relative(dice, main, negated, aside, dice.chance(0.1))
        elif shape == "plain":
            body = clause(dice, main, negated)
        else:
            body = subordinate(dice, clause(dice, main, negated), clause(dice, aside, dice.chance(0.1)))
        return Example((spelled(body),), wanted)
