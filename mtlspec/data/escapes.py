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


def unescape(word: str) -> str:
    """A word as it stood in the text: `-LRB-` is `(`, ` `` ` is `"`."""
    if word in _WHOLE:
        return _WHOLE[word]
    return _ESCAPE.sub(lambda match: _INSIDE[match[0]], word)
