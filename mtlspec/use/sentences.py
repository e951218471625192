"""From a paragraph to its sentences: rules that are said, need no model and look no further than the next word.

1. A sentence ends behind `.`, `!`, `?` or an ellipsis (several may stand together) and the quotes and brackets that
   close there, if blanks follow; behind `。`, `！` and `？` nothing need follow.
2. It goes on if signs that end nothing come next (`, ; : )`), and if the next word begins with a small letter: unless
   that stands behind `?` or `!` without a quote, or is one that begins sentences of people who write no capitals
   (`i`, `they`, `why` ...) behind the full stop of a word that is no abbreviation.
3. A full stop of a title (`Dr.`), of an abbreviation that leads to something (`e.g.`, `vs.`; `No.` or a month before a
   number) or of initials (`J. F. Smith`) ends nothing.
4. A full stop of an abbreviation that may end a sentence (`Inc.`, `a.m.`, `U.S.`) ends it only before a word that
   often begins one (`The`, `He` ...); so does that of a number of one digit or two, maybe an ordinal (`3. Mai`).
5. `1.`, `a)` and the like at the beginning of a sentence belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mtlspec.use.sentence_words import BEFORE_NUMBERS, BEGINNING, BEGINNING_SMALL, CLOSING, LEADING

_CLOSING_SIGNS = "\"'”’»›)]}*_"
_CLOSING = re.escape(_CLOSING_SIGNS)
_ENDS = re.compile(
    rf"(?P<wide>[。！？｡]++[{_CLOSING}」』）]*+)"
    rf"|(?P<stop>[.!?…؟۔।॥][.!?…؟۔।॥{_CLOSING}]*+)"
)
_ASKING = frozenset(("?", "!", "??", "!!", "???", "!!!", "?!", "!?"))
_NEXT = re.compile(r"\s+(?P<opening>[\"'“‘„«‹(\[{*_¿¡•·–—-]*)\s?(?P<word>\w[\w'’]*)?(?P<sign>\S)?")
_WORD_BEFORE = re.compile(r"[^\s\"“”„‘«»()\[\]{}—–…]*\Z")
_ROMAN = re.compile(r"(?!I\b)[IVXLCDM]+")
_MARKER = re.compile(r"(?:[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4}))")
_LONGEST = 32  # characters of a word that is looked at


def sentences_of(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a paragraph begins and ends, blanks around it left out."""
    start = _skip_blanks(text, 0)
    for match in _ENDS.finditer(text):
        if _is_end(text, start, match):
            yield start, match.end()
            start = _skip_blanks(text, match.end())
    if start < len(text):
        yield start, len(text.rstrip())


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    if match["wide"]:
        return True
    if match.end() == len(text):
        return True
    following = _NEXT.match(text, match.end())
    if following is None:  # no blank
        return False
    word, sign = following["word"] or "", following["sign"] or ""
    if not word:
        return sign not in set(",;:)]}»”’.!?…")
    stop = match["stop"]
    if word[0].islower() and not (stop in _ASKING or (stop == "." and word in BEGINNING_SMALL)):
        return False
    if stop[0] != "." or stop.startswith(".."):
        return True
    if len(stop.rstrip(_CLOSING_SIGNS)) > 1:
        return True
    before = _WORD_BEFORE.search(text, max(start, match.start() - _LONGEST), match.start())
    assert before is not None
    return not _goes_on(before[0].lstrip("'’"), text[start : min(match.start(), start + _LONGEST)], word)


def _goes_on(last: str, before: str, word: str) -> bool:
    """Whether the full stop behind a word ends nothing, as far as the word and the next one tell."""
    lower, begins = last.lower(), word.lower().split("'")[0].split("’")[0] in BEGINNING
    if _MARKER.fullmatch(before) or lower in LEADING:
        return True
    if lower in BEFORE_NUMBERS and (word[0].isdigit() or _ROMAN.fullmatch(word)):
        return True
    if word[0].islower():
        return not re.sub("['’]", "", last).isalpha() or len(last) < 2 or lower in CLOSING or lower in BEFORE_NUMBERS
    if lower in CLOSING or ("." in last and all(len(part) <= 2 for part in last.split("."))):
        return not begins
    if len(last) == 1 and last.isalpha() and last.isupper() and last != "I":
        return not begins
    return last.isdigit() and len(last) <= 2 and word[0].isalpha() and not begins
