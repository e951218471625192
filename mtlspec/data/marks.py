"""Marked words: a label that is about some words of an example's texts."""

from __future__ import annotations

from dataclasses import dataclass

from mtlspec.data.layer import TextSpan


@dataclass(frozen=True, slots=True)
class Marked:
    """`label` is None where only the words are known, as in text that is to be predicted."""

    spans: tuple[TextSpan, ...]
    label: str | None = None
