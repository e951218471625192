"""A sentence and its layers as text that people read."""

from __future__ import annotations

from mtlspec.data.layer_kinds import kind_of, layer_kind
from mtlspec.data.sentence import Sentence


def lines(sentence: Sentence) -> list[str]:
    """The words or texts, then one block of lines a layer."""
    shown = list(sentence.texts) or [" ".join(sentence.words)]
    for name, value in sentence.layers.items():
        rows = layer_kind(kind_of(value)).lines(sentence.words, value)
        shown += [f"  {name:<6} {rows[0]}", *(" " * 9 + row for row in rows[1:])]
    return shown
