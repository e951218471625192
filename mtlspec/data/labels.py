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
    if isinstance(layer, str):
        return "label"
    if isinstance(layer, float):
        return "value"
    if not layer:
        return None
    return "srl" if isinstance(layer[0], Frame) else "tags"


def labels(layer: Layer) -> Iterable[str]:
    """What people count: tags, relations, constituent labels or roles."""
    if isinstance(layer, DepTree):
        return layer.rels
    if isinstance(layer, ConTree):
        return (label for _, _, label in layer.spans)
    if isinstance(layer, str):
        return (layer,)
    if isinstance(layer, float):
        return ()
    return _tags_or_roles(layer)


def targets(layer: Layer) -> Iterable[str]:
    """What a decoder of this layer chooses from: labels; of a phrase-structure tree, unary chains such as `S VP`.

    A number is its own target, as text: what a decoder learns the scale from.
    """
    if isinstance(layer, ConTree):
        chains = groupby(layer.spans, key=lambda span: span[:2])
        return (CHAIN.join(label for _, _, label in chain) for _, chain in chains)
    if isinstance(layer, float):
        return (repr(layer),)
    return labels(layer)


def crossing_arcs(tree: DepTree) -> Iterable[int]:
    """Words (0-based) whose arc is not projective: a word between it and its head does not descend from the head.

    Linear in the number of words: an arc is projective if it ends within the run of descendants around its head.
    """
    size = len(tree.heads)
    first, last = _descendants(tree.heads)
    right = _runs(range(size, 0, -1), 1, first, last)
    left = _runs(range(1, size + 1), -1, first, last)
    for word, head in enumerate(tree.heads, 1):
        if head and not left[head] <= word <= right[head]:
            yield word - 1


def _descendants(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """For every node (0 is the root) the first and last number, in an order from the top down, of what is below it."""
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, 1):
        children[head].append(word)
    order: list[int] = []
    todo = [0]
    while todo:
        order.append(todo.pop())
        todo += children[order[-1]]
    first = [0] * len(children)
    for number, node in enumerate(order):
        first[node] = number
    last = first.copy()
    for node in reversed(order[1:]):
        head = heads[node - 1]
        last[head] = max(last[head], last[node])
    return first, last


def _runs(words: Iterable[int], step: int, first: Sequence[int], last: Sequence[int]) -> list[int]:
    """For every word the end of the unbroken run of its descendants beside it, towards `step`."""
    ends = [0] * len(first)
    for word in words:
        beside = word + step
        while 0 < beside < len(first) and first[word] <= first[beside] <= last[word]:
            beside = ends[beside] + step  # a descendant brings its own run along
        ends[word] = beside - step
    return ends


def _tags_or_roles(layer: tuple[str | None, ...] | tuple[Frame, ...]) -> Iterable[str]:
    for item in layer:
        if isinstance(item, str):
            yield item
        elif item is not None:
            yield from (role for _, _, role in item.roles)
