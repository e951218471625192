"""A sentence and its layers as text that people read."""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.data.escapes import escape
from mtlspec.data.sentence import ConTree, DepTree, Frame, Layer, Sentence


def lines(sentence: Sentence) -> list[str]:
    """The words, then one block of lines a layer."""
    shown = [" ".join(sentence.words)]
    for name, layer in sentence.layers.items():
        rows = _layer(sentence.words, layer)
        shown += [f"  {name:<6} {rows[0]}", *(" " * 9 + row for row in rows[1:])]
    return shown


def _layer(words: Sequence[str], layer: Layer) -> list[str]:
    if isinstance(layer, DepTree):
        named = ("ROOT", *words)
        arcs = zip(layer.rels, layer.heads, words, strict=True)
        return [" ".join(f"{rel}({named[head]}, {word})" for rel, head, word in arcs)]
    if isinstance(layer, ConTree):
        return [bracketed(words, layer)]
    if isinstance(layer, str | float):
        return [str(layer)]
    frames = [_frame(words, item) for item in layer if isinstance(item, Frame)]
    tags = " ".join(
        f"{word}/{tag}" for word, tag in zip(words, layer, strict=False) if isinstance(tag, str) and tag != "O"
    )
    return frames or [tags or "–"]


def bracketed(words: Sequence[str], tree: ConTree) -> str:
    """`(TOP (S ...))` on one line; brackets in words and tags are escaped. Linear in depth."""
    opening: list[list[str]] = [[] for _ in words]
    closing = [0] * len(words)
    for start, end, label in tree.spans:
        opening[start].append(f" ({label}")
        closing[end - 1] += 1
    leaves = zip(opening, map(escape, tree.pos), map(escape, words), closing, strict=True)
    return "".join(f"{''.join(left)} ({pos} {word}){')' * right}" for left, pos, word, right in leaves).lstrip()


def _frame(words: Sequence[str], frame: Frame) -> str:
    roles = (f"{role}: {' '.join(words[start:end])}" for start, end, role in frame.roles if role != "V")
    return f"{frame.sense} [{'; '.join(roles)}]"
