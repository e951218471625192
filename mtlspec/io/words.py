"""Numbers as they are read: with their nouns, and with commas."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 seed`, `3 seeds`, `1,200 updates`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
