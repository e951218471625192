"""A choice: one of several answers to a question, which is an example of its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """`score` is 1 for a right answer and 0 for a wrong one; of a prediction, the probability that it is right."""

    question: str  # its name: that of all its choices
    answer: str  # as a text
    score: float
