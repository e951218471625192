"""What the layers of a sentence hold: their kind, their labels, their crossing arcs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from mtlspec.data.sentence import ConTree, DepTree, Frame, Layer
from mtlspec.spec.families import LayerKind

CHAIN = " "  # joins the labels of a unary chain; no reader gives a label with a blank in it


def kind_of(layer: Layer) -> LayerKind | None:
    """The kind that a value shows, or None for an empty one (no words' tags, or no frames)."""
    if isinstance(layer, DepTree):
        return "dep"
    if isinstance(layer, ConTree):
        return "con"
    if not layer:
        return None
    return "srl" if isinstance(layer[0], Frame) else "tags"


def labels(layer: Layer) -> Iterable[str]:
    """What people count: tags, relations, constituent labels or roles."""
    if isinstance(layer, DepTree):
        return layer.rels
    if isinstance(layer, ConTree):
        return (label for _, _, label in layer.spans)
    return _tags_or_roles(layer)


def targets(layer: Layer) -> Iterable[str]:
    """What a decoder of this layer chooses from: labels; of a phrase-structure tree, unary chains such as `S VP`."""
    if isinstance(layer, ConTree):
        chains = groupby(layer.spans, key=lambda span: span[:2])
        return (CHAIN.join(label for _, _, label in chain) for _, chain in chains)
    return labels(layer)


def crossing_arcs(tree: DepTree) -> Iterable[int]:
    """Words (0-based) whose arc is not projective: a word between it and its head does not descend from the head."""
    for word, head in enumerate(tree.heads):
        if head == 0:
            continue
        low, high = sorted((word, head - 1))
        if any(not _descends(tree.heads, between, head) for between in range(low + 1, high)):
            yield word


def _descends(heads: Sequence[int], word: int, ancestor: int) -> bool:
    """Whether `ancestor` (1-based) stands above `word` (0-based)."""
    node = word + 1
    while node not in (0, ancestor):
        node = heads[node - 1]
    return node == ancestor


def _tags_or_roles(layer: tuple[str, ...] | tuple[Frame, ...]) -> Iterable[str]:
    for item in layer:
        if isinstance(item, str):
            yield item
        else:
            yield from (role for _, _, role in item.roles)
