"""From a line of text to words: the tokenisation that is said and chosen, not one that a library happens to bring.

`blanks` cuts at blanks and nowhere else. `rules` goes on from there, the way English treebanks are cut:

1. Addresses of pages and of mail stay whole.
2. Brackets, quotes, commas, colons, semicolons, question and exclamation marks and other signs are words of their own;
   a sign that is repeated (`...`, `--`, `!!`) is one word.
3. A full stop ends a word only where the word is no abbreviation: none with a full stop inside (`U.S.`, `e.g.`), no
   single letter (`J.`) and none of the list below (`Mr.`, `Inc.`). At the end of the line, it is always cut off, unless
   the word has one inside.
4. Signs between letters or digits stay (`well-known`, `3.5`, `1,000`, `10:30`, `and/or`, `AT&T`, `john_doe`).
5. English contractions are two words, `do n't`, `she 's`, `we 'll`.
"""

from __future__ import annotations

import re
from typing import Literal

Tokens = Literal["rules", "blanks"]
"""How plain text becomes words."""

_PARTS = re.compile(
    r"""
    (?P<address>(?:https?://|www\.)\S*[\w/] | \w[\w.+-]{0,63}@[\w-]+(?:\.[\w-]+)+)
    | (?:[^\W\d_]\.)+[^\W\d_]?\.?(?!\w)                          # U.S., e.g., J.
    | [\w][\w\u0300-\u036f]*(?:['’.,:/&_+-][\w\u0300-\u036f]+)*  # words, with signs inside
    | (?P<sign>[^\w\s])(?P=sign)*                                # signs, repeated ones together
    """,
    re.VERBOSE,
)
_CONTRACTED = re.compile(r"(?i)(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))")
_ABBREVIATED = re.compile(
    "(?i)mr|mrs|ms|dr|prof|st|rev|gen|sen|rep|gov|jr|sr|inc|co|corp|ltd|bros|dept|univ|vs|etc|fig|approx|"
    "jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec"
)


def words_of(text: str, tokens: Tokens = "rules") -> tuple[str, ...]:
    """The words of one line; none where it is blank."""
    if tokens == "blanks":
        return tuple(text.split())
    found: list[str] = []
    last = len(text.rstrip()) - 1  # where a full stop ends the line, and belongs to no word
    for match in _PARTS.finditer(text):
        part, at = match[0], match.start()
        if part == "." and at < last and _abbreviated(text, at, found):
            found[-1] += "."
        else:
            found.extend((part,) if match["address"] else _uncontracted(part))
    return tuple(found)


def _abbreviated(text: str, at: int, before: list[str]) -> bool:
    """Whether the full stop at a place belongs to the word right before it."""
    return bool(before) and _ABBREVIATED.fullmatch(before[-1]) is not None and not text[at - 1].isspace()


def _uncontracted(part: str) -> tuple[str, ...]:
    match = _CONTRACTED.fullmatch(part)
    return (match[1], match[2]) if match else (part,)
