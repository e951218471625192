"""Sentences of two clauses of which only structure tells which one is the main clause."""

from __future__ import annotations

from collections.abc import Callable

from mtlspec.data.generators import _nouns as nouns
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._tree import Draft, Node, phrase, word
from mtlspec.data.generators._verbphrases import Scene, Shape, finite, full_clause
from mtlspec.data.generators._verbs import PATTERNS, Pattern

NAMED = {pattern.name: pattern for pattern in PATTERNS}
_MARKS = ("because", "although", "while", "after", "before", "until")
_TRIES = 1000  # a clause is drawn until it is as it is wanted; one in eight is negated


def clause(dice: Dice, pattern: Pattern, negated: bool) -> Node:
    """A clause of a pattern, of depth 0 so that it has no clause inside."""
    return _drawn(negated, lambda: full_clause(Scene(dice), Shape(depth=0), pattern))


def subordinate(dice: Dice, main: Node, aside: Node) -> Node:
    """`main because aside`, or `because aside , main`."""
    extra = phrase("SBAR", word("IN", dice.one(_MARKS), "mark", upos="SCONJ"), aside).as_("advcl")
    if dice.chance(0.5):
        return phrase("S", extra, word(",", ",", "punct"), *main.kids)
    return phrase("S", *main.kids, extra)


def relative(dice: Dice, main: Pattern, negated: bool, aside: Pattern, aside_negated: bool) -> Node:
    """`The cook who aside main`: the subject, a person, carries the other clause."""
    base = nouns.common(dice, "person", 0)
    base.sort = "person"
    inner = _drawn(aside_negated, lambda: finite(Scene(dice), aside, base, Shape(depth=0))[:2])
    pronoun = phrase("WHNP", word("WP", dice.one(("who", "who", "that")))).as_("nsubj")
    subject = phrase("NP", base, phrase("SBAR", pronoun, phrase("S", inner)).as_("acl:relcl")).as_("nsubj")
    return phrase("S", subject, _drawn(negated, lambda: finite(Scene(dice), main, base, Shape(depth=0))[:2]))


def takes_person(pattern: Pattern) -> bool:
    """Whether a person can be the subject."""
    return pattern.subject in ("person", "agent")


def _drawn(negated: bool, make: Callable[[], tuple[Node, Draft]]) -> Node:
    for _ in range(_TRIES):
        node, draft = make()
        if any(role == "ARGM-NEG" for _, role in draft.roles) == negated:
            return node
    raise AssertionError("the grammar negates every eighth clause")
