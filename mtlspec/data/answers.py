"""Answers that stand in a text: what a question about it is answered with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """Characters of the text, from the first to behind the last; `text` is the answer as it is said."""

    text: str
    start: int
    end: int


Answers = tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's right answers, or the one that was predicted; none: the text does not answer it."""

    answers: Answers = ()
