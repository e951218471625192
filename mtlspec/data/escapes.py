"""The escapes of the Penn Treebank."""

from __future__ import annotations

import re

_WHOLE = {"``": '"', "''": '"', "`": "'"}
_INSIDE = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "\\/": "/",
    "\\*": "*",
}
_ESCAPE = re.compile("|".join(map(re.escape, _INSIDE)))
_BRACKETS = str.maketrans({"(": "-LRB-", ")": "-RRB-", " ": "\u00a0"})


def unescape(word: str) -> str:
    """A word as it stood in the text: `-LRB-` is `(`, ` `` ` is `"`."""
    if word in _WHOLE:
        return _WHOLE[word]
    return _ESCAPE.sub(lambda match: _INSIDE[match[0]], word)


def escape(word: str) -> str:
    """A word that can stand in a bracketed tree: without brackets, and without blanks (they become no-break spaces)."""
    return word.translate(_BRACKETS)
