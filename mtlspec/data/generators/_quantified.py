"""Statements such as `No artists slept in the park`, and what follows from what: found by trying all small worlds."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

QUANTIFIERS = ("all", "some", "no", "not all")
_KINDS = tuple(product((True, False), range(3)))  # of individuals: of the narrow noun or not; did nothing, it, it there
_WORLDS = tuple(
    frozenset(kind for kind, there in zip(_KINDS, chosen, strict=True) if there)
    for chosen in product((True, False), repeat=len(_KINDS))
    if any(chosen[:3])  # what is spoken of exists
)


class Statement(NamedTuple):
    """Of the narrow noun (`singers`) or the wide one (`artists`), and of the narrow verb phrase or the wide one."""

    quantifier: str
    wide_noun: bool
    wide_verb: bool

    def holds(self, world: frozenset[tuple[bool, int]]) -> bool:
        did = [action > 0 if self.wide_verb else action > 1 for narrow, action in world if narrow or self.wide_noun]
        return {"all": all(did), "some": any(did), "no": not any(did), "not all": not all(did)}[self.quantifier]


def relation(premise: Statement, hypothesis: Statement) -> str:
    """`entailment`, `contradiction` or `neutral`."""
    answers = {hypothesis.holds(world) for world in _WORLDS if premise.holds(world)}
    if len(answers) == 2:
        return "neutral"
    return "entailment" if answers.pop() else "contradiction"


def pairs(wanted: str) -> list[tuple[Statement, Statement]]:
    statements = [Statement(*parts) for parts in product(QUANTIFIERS, (False, True), (False, True))]
    return [pair for pair in product(statements, statements) if relation(*pair) == wanted]
