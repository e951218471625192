"""Events between two persons as sentences in the past, active or passive, and what their words mean."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mtlspec.data.generators import _names as names
from mtlspec.data.generators._dice import Dice
from mtlspec.data.generators._morphology import inflect
from mtlspec.data.generators._tree import Node, phrase, word

SYNONYMS = (
    ("watch", "observe", "notice", "spot"),
    ("praise", "thank", "help", "admire"),
    ("blame", "accuse", "question"),
)
"""In this small world the verbs of a group mean the same."""
OFFICES = ("officer", "guard", "leader", "manager", "director", "judge", "minister", "president")
PUBLIC = ("guest", "visitor", "artist", "singer", "teacher", "student", "farmer", "nurse")


@dataclass(frozen=True)
class Event:
    """Who did what to whom, perhaps on a day, or did not do it."""

    agent: str
    verb: str
    patient: str
    day: str
    negated: bool = False

    def exchanged(self) -> Event:
        """The other way round."""
        return replace(self, agent=self.patient, patient=self.agent)

    def reworded(self, dice: Dice, alike: bool) -> Event:
        """With another verb, which means the same or something else."""
        verbs = [v for group in SYNONYMS if (self.verb in group) == alike for v in group if v != self.verb]
        return replace(self, verb=dice.one(verbs))

    def said(self, passive: bool) -> Node:
        denied = [word("RB", "not", "advmod")] if self.negated else []
        if passive:
            verbs = [word("VBD", "was", "aux:pass"), *denied, word("VBN", inflect(self.verb, "VBN"))]
            subject, other = the(self.patient), _after("by", the(self.agent), "obl:agent")
        else:
            tag = "VB" if self.negated else "VBD"
            verbs = [*([word("VBD", "did", "aux"), *denied] if denied else []), word(tag, inflect(self.verb, tag))]
            subject, other = the(self.agent), the(self.patient).as_("obj")
        day = [_after("on", phrase("NP", word("NNP", self.day)), "obl")] if self.day else []
        return phrase("S", subject.as_("nsubj"), phrase("VP", *verbs, other, *day))


def event(dice: Dice) -> Event:
    """Between somebody in office and somebody else, in either role."""
    persons = dice.one(OFFICES), dice.one(PUBLIC)
    agent, patient = persons if dice.chance(0.5) else persons[::-1]
    return Event(agent, dice.one(dice.one(SYNONYMS)), patient, dice.one(names.DAYS))


def the(noun: str) -> Node:
    return phrase("NP", word("DT", "the", "det"), word("NN", noun))


def _after(preposition: str, inner: Node, relation: str) -> Node:
    return phrase("PP", word("IN", preposition, "case"), inner).as_(relation)
