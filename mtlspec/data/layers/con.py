"""A phrase-structure tree: labelled spans over words, and their parts of speech."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mtlspec.data.escapes import escape
from mtlspec.data.layer import Kind, transposed
from mtlspec.data.sentence import ConTree

if TYPE_CHECKING:
    import pyarrow as pa

CHAIN = " "
"""Joins the labels of a unary chain; no reader gives a label with a blank in it."""


class Con(Kind[ConTree]):
    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        ints, strings = pa.list_(pa.int32()), pa.list_(pa.string())
        return {".start": ints, ".end": ints, ".label": strings, ".pos": strings}

    def cells(self, value: ConTree) -> tuple[Any, ...]:
        return (*transposed(value.spans, 3), value.pos)

    def value(self, cells: Sequence[Any]) -> ConTree:
        start, end, label, pos = cells
        return ConTree(tuple(zip(start, end, label, strict=True)), tuple(pos))

    def shows(self, value: object) -> bool:
        return isinstance(value, ConTree)

    def labels(self, value: ConTree) -> Iterable[str]:
        return (label for _, _, label in value.spans)

    def targets(self, value: ConTree) -> Iterable[str]:
        """Unary chains such as `S VP`."""
        chains = groupby(value.spans, key=lambda span: span[:2])
        return (CHAIN.join(label for _, _, label in chain) for _, chain in chains)

    def lines(self, words: Sequence[str], value: ConTree) -> list[str]:
        return [bracketed(words, value)]

    def problem(self, value: ConTree, words: int) -> str | None:
        return f"a tree over {len(value.pos)} words for {words} words" if len(value.pos) != words else None


def bracketed(words: Sequence[str], tree: ConTree) -> str:
    """`(TOP (S ...))` on one line; brackets in words and tags are escaped. Linear in depth."""
    opening: list[list[str]] = [[] for _ in words]
    closing = [0] * len(words)
    for start, end, label in tree.spans:
        opening[start].append(f" ({label}")
        closing[end - 1] += 1
    leaves = zip(opening, map(escape, tree.pos), map(escape, words), closing, strict=True)
    return "".join(f"{''.join(left)} ({pos} {word}){')' * right}" for left, pos, word, right in leaves).lstrip()


KIND = Con()
