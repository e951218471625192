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
6. Accents, vowel signs and joiners belong to the letter before them, in every script; a picture that is made of several
   characters, and a flag, is one word.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Tokens = Literal["rules", "blanks"]
"""How plain text becomes words."""

# What Python's `\w` lacks of words: marks (of Hindi every other vowel), joiners, the hyphen that is not shown.
_MARKS = "\u00ad\u200c\u200d" + "".join(
    mark
    for mark in map(chr, (*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0)))
    if unicodedata.category(mark)[0] == "M"
)
_PARTS = re.compile(
    rf"""
    (?P<address>(?:https?://|www\.)\S*[\w/] | \w[\w.+-]{{0,63}}@[\w-]+(?:\.[\w-]+)+)
    | (?:[^\W\d_]\.)+[^\W\d_]?\.?(?!\w)                          # U.S., e.g., J.
    | \w[\w{_MARKS}]*(?:['’.,:/&_+-][\w{_MARKS}]+)*              # words, with signs inside
    | [\U0001f1e6-\U0001f1ff]{{2}}                                # flags
    | [^\w\s](?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d[^\w\s])+      # pictures made of several
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
