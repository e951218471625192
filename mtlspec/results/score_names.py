"""How scores are called where people read them."""

from __future__ import annotations

_SPOKEN = {
    "f1": "F1",
    "las": "LAS",
    "uas": "UAS",
    "las_no_punct": "LAS without punctuation",
    "uas_no_punct": "UAS without punctuation",
}


def spoken(score: str) -> str:
    """`LAS without punctuation` for `las_no_punct`; other names with blanks."""
    return _SPOKEN.get(score, score.replace("_", " "))
