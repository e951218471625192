"""A dependency tree: the head and the relation of every word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.layer import Kind
from mtlspec.data.sentence import DepTree

if TYPE_CHECKING:
    import pyarrow as pa


class Dep(Kind[DepTree]):
    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        return {".heads": pa.list_(pa.int32()), ".rels": pa.list_(pa.string())}

    def cells(self, value: DepTree) -> tuple[Any, ...]:
        return value.heads, value.rels

    def value(self, cells: Sequence[Any]) -> DepTree:
        heads, rels = cells
        return DepTree(tuple(heads), tuple(rels))

    def shows(self, value: object) -> bool:
        return isinstance(value, DepTree)

    def labels(self, value: DepTree) -> Iterable[str]:
        return value.rels

    def lines(self, words: Sequence[str], value: DepTree) -> list[str]:
        named = ("ROOT", *words)
        arcs = zip(value.rels, value.heads, words, strict=True)
        return [" ".join(f"{rel}({named[head]}, {word})" for rel, head, word in arcs)]

    def figures(self, value: DepTree) -> Mapping[str, int]:
        return {"non-projective arcs": sum(1 for _ in crossing_arcs(value))}

    def problem(self, value: DepTree, words: int) -> str | None:
        return f"{len(value.heads)} heads for {words} words" if len(value.heads) != words else None


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


KIND = Dep()
