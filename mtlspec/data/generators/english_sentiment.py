"""Whether the main clause of a sentence speaks well or ill of something: a word says it, and negation turns it.

Negation and words of feeling stand in other clauses, too, where they turn and say nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.data.generators._clausal import NAMED, clause, relative, subordinate
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._examples import Example, ExampleOptions, Size, spelled
from mtlspec.data.generators._verbs import Pattern

_FEELINGS = {
    "positive": (
        ("meet", ("praise", "thank", "help", "admire")),
        ("discuss", ("support", "approve")),
        ("own", ("like", "love")),
    ),
    "negative": (
        ("meet", ("blame", "question")),
        ("discuss", ("oppose", "reject")),
        ("hit", ("damage", "break", "smash")),
    ),
}
_NEUTRAL = ("see", "go", "eat", "write", "sleep", "live", "wait_for", "put")
_OPPOSITE = {"positive": "negative", "negative": "positive"}
_SHAPES = (("plain", 1.0), ("turned", 1.0), ("aside", 1.0), ("other", 1.0))


class Options(ExampleOptions):
    header: ClassVar = ("sentence", "sentiment")
    classes: ClassVar = ("negative", "positive")
    type: Literal["english_sentiment"]
    train: Size = Field(default=3000, description="Training examples.")

    def draw(self, dice: Dice, wanted: str) -> Example:
        """Words of `wanted` in a plain clause; of its opposite in a negated one; or of both in two clauses."""
        shape = dice.weighted(_SHAPES)
        turned = shape == "turned"
        main = _felt(dice, _OPPOSITE[wanted] if turned else wanted)
        aside = _felt(dice, _OPPOSITE[wanted]) if shape == "other" else NAMED[dice.one(_NEUTRAL)]
        aside_turned = shape == "aside"
        if dice.chance(0.5):
            body = relative(dice, main, turned, aside, aside_turned)
        else:
            body = subordinate(dice, clause(dice, main, turned), clause(dice, aside, aside_turned))
        return Example((spelled(body),), wanted)


def _felt(dice: Dice, feeling: str) -> Pattern:
    name, verbs = dice.one(_FEELINGS[feeling])
    return replace(NAMED[name], verbs=verbs)
