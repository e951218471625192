"""Whether a sentence of the small English is well formed.

A bad sentence breaks agreement, order or what a verb takes; both classes have the same words, verb forms and frames.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._examples import Example, ExampleOptions, Size, spelled
from mtlspec.data.generators._morphology import inflect
from mtlspec.data.generators._tree import Node
from mtlspec.data.generators._verbphrases import SIMPLE, Scene, Shape, choose, full_clause
from mtlspec.data.generators._verbs import PATTERNS, Pattern

_ONE_FORM = ("sheep", "fish", "aircraft")  # their number is that of the verb


class Options(ExampleOptions):
    header: ClassVar = ("sentence", "acceptability")
    classes: ClassVar = ("0", "1")  # 1 is acceptable, as in CoLA
    longest: ClassVar = 10
    type: Literal["english_acceptability"]
    train: Size = Field(default=6000, description="Training examples.")

    def draw(self, dice: Dice, wanted: str) -> Example:
        make = dice.one((_agreement, _order, _frame))
        while True:
            body = make(dice, wanted == "0")
            if body is not None:
                return Example((spelled(body),), wanted)


def _agreement(dice: Dice, broken: bool) -> Node | None:
    """A finite verb in the present; it is as often singular as plural, whether that is right or wrong."""
    tag = dice.one(("VBZ", "VBP"))
    body, _ = full_clause(Scene(dice), Shape(depth=1))
    subject, verb = body.kids[0], body.kids[-1].kids[0]
    unclear = subject.first_person or subject.head.lemma in _ONE_FORM or verb.word.startswith("'")
    if verb.label not in ("VBZ", "VBP") or unclear or (verb.label == tag) == broken:
        return None
    verb.word, verb.label = inflect(verb.lemma, tag, plural_subject=tag == "VBP"), tag
    return None if verb.word == inflect(verb.lemma, "VBD") else body  # "put" agrees with anybody


def _order(dice: Dice, broken: bool) -> Node | None:
    """Two neighbours change places: a determiner and its noun, a verb and its object, an auxiliary and a verb."""
    body, _ = full_clause(Scene(dice), Shape(depth=1))
    places = [node for node in body.nodes() if len(node.kids) > 1 and _is_fixed(node)]
    if not places:
        return None
    if broken:
        kids = dice.one(places).kids
        kids[0], kids[1] = kids[1], kids[0]
    return body


def _is_fixed(node: Node) -> bool:
    first, second = node.kids[:2]
    return first.label in ("DT", "IN", "PRP$") or (node.label == "VP" and second.label in ("VP", "NP", "PP", "RB"))


def _frame(dice: Dice, broken: bool) -> Node | None:
    """An active verb among complements of its own, or of a verb that takes others."""
    pattern = choose(Scene(dice), SIMPLE)
    body, draft = full_clause(Scene(dice), Shape(depth=0), pattern)
    subject, verb = body.kids[0], draft.verb
    if subject.rel == "nsubj:pass":
        return None
    if broken:
        verb.lemma = dice.word(choose(Scene(dice), SIMPLE).verbs)
        if _first(pattern) in _taken(verb.lemma):
            return None
        verb.word = inflect(verb.lemma, verb.label, subject.plural, subject.first_person)
    return body


def _first(pattern: Pattern) -> str:
    """What follows the verb at once: nothing, an object, a particle, or a preposition."""
    if not pattern.slots:
        return ""
    slot = pattern.slots[0]
    return slot.preposition if slot.kind == "pp" else slot.wants if slot.kind == "particle" else slot.kind


def _taken(lemma: str) -> set[str]:
    return {_first(pattern) for pattern in PATTERNS if lemma in pattern.verbs}
