"""Numbers with their nouns."""

from __future__ import annotations


def noun(number: int, one: str, many: str | None = None) -> str:
    """`seed` for 1, `seeds` for any other number, unless the plural has a form of its own."""
    return one if number == 1 else many or f"{one}s"


def of_all(part: int, whole: int, one: str) -> str:
    """`2 of 5 tasks`, `1 of 1 task`."""
    return f"{part} of {whole} {noun(whole, one)}"
