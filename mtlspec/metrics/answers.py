"""Answers as texts, compared as SQuAD's own script does: without case, punctuation, articles and further blanks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from mtlspec.data.answers import normalised


class Agreement(NamedTuple):
    """How well an answer agrees with the best of the right ones: 0 or 1, and a share."""

    exact: float
    f1: float


def token_f1(answer: str, right: str) -> float:
    """F1 of the tokens that both have, as often as both have them. Where either has none, whether neither has."""
    ours, theirs = normalised(answer).split(), normalised(right).split()
    if not ours or not theirs:
        return float(ours == theirs)
    same = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * same / (len(ours) + len(theirs))


def agreement(answer: str, right: Iterable[str]) -> Agreement:
    """The best over the right answers, of each of the two by itself; no right answer at all is the empty text."""
    known = list(right) or [""]
    exact = any(normalised(answer) == normalised(one) for one in known)
    return Agreement(float(exact), max(token_f1(answer, one) for one in known))
