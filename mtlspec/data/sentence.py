"""The common currency of all readers, tasks and writers: a sentence, or a text, with its annotation layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class DepTree:
    """heads[i] is the 1-based head of word i, 0 for the root; rels[i] its relation."""

    heads: tuple[int, ...]
    rels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConTree:
    """A phrase-structure tree as labelled spans over words: (start, end exclusive, label), outer and left first.

    A unary chain is several spans over the same words, the upper one first. `pos` are the pre-terminals.
    """

    spans: tuple[tuple[int, int, str], ...]
    pos: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """One predicate (0-based word index) with its role spans: (start, end exclusive, role)."""

    predicate: int
    sense: str
    roles: tuple[tuple[int, int, str], ...]


Layer = tuple[str | None, ...] | DepTree | ConTree | tuple[Frame, ...] | str | float
"""Values of the layer kinds tags, dep, con, srl, label and value."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words, or raw text in one or two segments; and layers. A layer that a sentence lacks is not in `layers`.

    `place` is file:line of its first token, for error messages.
    """

    id: str
    words: tuple[str, ...]
    layers: Mapping[str, Layer]
    place: tuple[str, int] = ("", 0)
    comments: tuple[str, ...] = field(default=())
    between: tuple[tuple[int, str], ...] = field(default=())  # lines that are no words, and how many words come before
    texts: tuple[str, ...] = field(default=())  # one or two segments; then there are no words
