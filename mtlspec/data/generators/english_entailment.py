"""Whether one sentence of the small English follows from another, contradicts it, or neither.

The sentences differ in their quantifier, in a noun and its hypernym, or in a place that is told or not. What follows
is found by logic, and the words of each class are the same.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._events import the
from mtlspec.data.generators._examples import Example, ExampleOptions, Size, spelled
from mtlspec.data.generators._morphology import inflect, plural
from mtlspec.data.generators._quantified import Statement, pairs
from mtlspec.data.generators._tree import Node, phrase, word

HYPERNYMS = {
    "artist": ("singer", "dancer", "painter", "poet"),
    "worker": ("baker", "miner", "plumber", "mechanic"),
    "official": ("minister", "judge", "guard", "clerk"),
    "expert": ("engineer", "scientist", "doctor", "lawyer"),
}
_VERBS = ("watch", "see", "follow", "meet", "notice", "invite", "help", "blame")
_OBJECTS = ("teacher", "student", "farmer", "nurse", "driver", "manager", "reporter", "officer", "soldier", "guest")
_PLACES = ("park", "city", "village", "museum", "school", "hospital", "station", "hotel")
_QUANTIFIERS = {
    "same": {("all", "all"), ("some", "some"), ("no", "no"), ("not all", "not all")},
    "opposite": {("all", "not all"), ("not all", "all"), ("some", "no"), ("no", "some")},
    "weaker": {("all", "some"), ("no", "not all")},
    "stronger": {("some", "all"), ("not all", "no")},
    "contrary": {("all", "no"), ("no", "all")},
}
"""How quantifiers of two sentences may be related."""
_SHARES = {
    "entailment": (("same", 3.0), ("weaker", 2.0)),
    "contradiction": (("opposite", 3.0), ("contrary", 2.0)),
    "neutral": (("same", 3.0), ("opposite", 3.0), ("weaker", 1.5), ("contrary", 1.5), ("stronger", 1.0)),
}
"""Which relations a class has; all but the rare last one leave two classes open."""


class Options(ExampleOptions):
    header: ClassVar = ("sentence1", "sentence2", "entailment")
    classes: ClassVar = ("entailment", "neutral", "contradiction")
    type: Literal["english_entailment"]
    train: Size = Field(default=4000, description="Training examples.")

    def draw(self, dice: Dice, wanted: str) -> Example:
        premise, hypothesis = dice.one(_statements(wanted, dice.weighted(_SHARES[wanted])))
        wide = dice.one(tuple(HYPERNYMS))
        nouns = dice.one(HYPERNYMS[wide]), wide
        action = dice.one(_VERBS), dice.one(_OBJECTS), dice.one(_PLACES)
        return Example(tuple(spelled(_said(one, nouns, action)) for one in (premise, hypothesis)), wanted)


@cache
def _statements(wanted: str, quantifiers: str) -> list[tuple[Statement, Statement]]:
    """Different statements of a class whose quantifiers are related so."""
    related = _QUANTIFIERS[quantifiers]
    return [(a, b) for a, b in pairs(wanted) if a != b and (a.quantifier, b.quantifier) in related]


def _said(statement: Statement, nouns: tuple[str, str], action: tuple[str, str, str]) -> Node:
    verb, whom, where = action
    noun = word("NNS", plural(nouns[statement.wide_noun]) or "")
    subject = phrase("NP", *(word("DT", text, "det") for text in statement.quantifier.split()), noun)
    there = phrase("PP", word("IN", "in", "case"), the(where)).as_("obl")
    did = [word("VBD", inflect(verb, "VBD")), the(whom).as_("obj"), *([] if statement.wide_verb else [there])]
    return phrase("S", subject.as_("nsubj"), phrase("VP", *did))
