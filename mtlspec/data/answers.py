"""Answers that stand in a text: what a question about it is answered with, and when two answers say the same."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's right answers, or the one that was predicted; none: the text does not answer it.

    `texts` are the answers as they are said, `spans` the characters of the text, from the first to behind the last,
    that answer it. There may be more of one than of the other.
    """

    texts: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()


def normalised(answer: str) -> str:
    """As SQuAD's own script does it, in its order: lower case, punctuation (ASCII's only), articles, blanks."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())
