"""Bracket columns: `(NP*`, `*`, `*))` spread a tree or spans over the lines of a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mtlspec.data.blocks import Block
from mtlspec.data.malformed import refuse
from mtlspec.errors import DataError
from mtlspec.spec.words import shorten

_BIT = re.compile(r"((?:\([^()*]+)*)\*(\)*)|(\([^()*]+)(\))")  # OntoNotes writes an entity of one word `(GPE)`

Span = tuple[int, int, str]


def spans(bits: Sequence[str], block: Block, rows: Sequence[int], what: str) -> list[Span]:
    """Spans of one column, outer and left ones first; `rows` are the block's lines that the bits stand on."""
    found: list[tuple[int, int, str] | None] = []
    open_: list[tuple[int, int, str]] = []  # place in `found`, start, label
    unpaired: list[DataError] = []
    unknown: list[DataError] = []  # these may be any bracket: nobody can say then which ones lack their other half
    for word, bit in enumerate(bits):
        if bit == "*":
            continue
        match = _BIT.fullmatch(bit)
        if match is None:
            message = f"'{shorten(bit)}' is not a bracket of the {what} column"
            unknown.append(DataError("E230", message, block.place(rows[word])))
            continue
        for label in (match[1] or match[3] or "").split("(")[1:]:
            open_.append((len(found), word, label))
            found.append(None)
        for _ in match[2] or match[4] or "":
            if not open_:
                message = f"a bracket of the {what} column closes but was not opened"
                unpaired.append(DataError("E231", message, block.place(rows[word])))
                break
            at, start, label = open_.pop()
            found[at] = (start, word + 1, label)
    for _, start, label in open_:
        message = f"'({label}' of the {what} column is not closed"
        unpaired.append(DataError("E232", message, block.place(rows[start])))
    refuse(unknown or unpaired)
    return [span for span in found if span is not None]


def bits(spans: Sequence[Span], size: int) -> list[str]:
    """The inverse of `spans`, for spans that nest, outer ones first; linear in depth."""
    opening: list[list[str]] = [[] for _ in range(size)]
    closing = [0] * size
    for start, end, label in spans:
        opening[start].append(f"({label}")
        closing[end - 1] += 1
    return [f"{''.join(left)}*{')' * right}" for left, right in zip(opening, closing, strict=True)]
