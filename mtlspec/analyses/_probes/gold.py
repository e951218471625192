"""What probes are asked: labelled relations and spans of a split, as flat tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import torch
from torch import Tensor

from mtlspec.data.prepared import PreparedSplit
from mtlspec.data.sentence import ConTree, DepTree, Frame
from mtlspec.metrics.schemes import detect_scheme, spans_of

ProbedTask = Literal["dep", "srl", "pos", "ner", "con"]
Item = tuple[int, int, int, str]
"""(anchor, start, end exclusive, label)"""

NO_ARGUMENT = ("V", "C-V")  # the predicate itself is no argument of its own


@dataclass(frozen=True)
class Gold:
    """R labelled items of N sentences, in the order of the split.

    Positions count [CLS] as 0 and the i-th word as i + 1. `anchor` is the dependent or the predicate, and
    [start, end) its head or its argument; spans that stand alone have the anchor 0.
    """

    names: tuple[str, ...]  # the labels
    label: Tensor  # int64 [R]: an index into `names`
    anchor: Tensor  # int64 [R]
    start: Tensor  # int64 [R]
    end: Tensor  # int64 [R]
    offsets: Tensor  # int64 [N + 1]: where each sentence's items begin

    def of(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Items of the sentences `rows` int64 [B]: their indices int64 [r], and the place 0 ... B - 1 of each's row."""
        first = self.offsets.index_select(0, rows)
        counts = self.offsets.index_select(0, rows + 1) - first
        place = torch.repeat_interleave(torch.arange(len(rows)), counts)
        begin = counts.cumsum(0) - counts
        inner = torch.arange(len(place)) - begin.index_select(0, place)
        return first.index_select(0, place) + inner, place

    def shuffled(self, seed: int) -> Gold:
        """The control: the same items with their labels dealt out anew."""
        order = torch.randperm(len(self.label), generator=torch.Generator().manual_seed(seed))
        return replace(self, label=self.label.index_select(0, order))

    def counts(self) -> Tensor:
        """Items of each label: int64 [labels]."""
        return torch.bincount(self.label, minlength=len(self.names))


def read_gold(splits: Sequence[PreparedSplit], layer: str, task: ProbedTask) -> list[Gold]:
    """The items of one task in several splits, with one list of labels for all of them."""
    items = [_items(split, layer, task) for split in splits]
    names = tuple(sorted({item[3] for split in items for sentence in split for item in sentence}))
    number = {name: index for index, name in enumerate(names)}
    return [_gold(split, names, number) for split in items]


def _gold(sentences: Sequence[Sequence[Item]], names: tuple[str, ...], number: dict[str, int]) -> Gold:
    flat = [(anchor, start, end, number[label]) for sentence in sentences for anchor, start, end, label in sentence]
    columns = torch.tensor(flat, dtype=torch.int64).reshape(-1, 4)
    sizes = torch.tensor([0, *(len(sentence) for sentence in sentences)], dtype=torch.int64)
    anchor, start, end, label = (column.contiguous() for column in columns.unbind(1))
    return Gold(names, label, anchor, start, end, sizes.cumsum(0))


def _items(split: PreparedSplit, layer: str, task: ProbedTask) -> list[list[Item]]:
    """Sentences without the annotation have no items, nor have words without a tag."""
    values = split.values(layer)
    if task == "dep":
        return [_arcs(cast(DepTree, value)) if value is not None else [] for value in values]
    if task == "srl":
        return [_arguments(cast("tuple[Frame, ...]", value)) if value is not None else [] for value in values]
    if task == "con":
        return [_lowest_phrases(cast(ConTree, value)) if value is not None else [] for value in values]
    tags = [cast("tuple[str | None, ...]", value) if value is not None else () for value in values]
    if task == "pos":
        return [[(0, i + 1, i + 2, tag) for i, tag in enumerate(own) if tag is not None] for own in tags]
    scheme = detect_scheme({tag for own in tags for tag in own if tag is not None})
    return [[(0, start + 1, end + 1, label) for start, end, label in spans_of(own, scheme)] for own in tags]


def _arcs(tree: DepTree) -> list[Item]:
    return [(i + 1, head, head + 1, rel) for i, (head, rel) in enumerate(zip(tree.heads, tree.rels, strict=True))]


def _arguments(frames: Iterable[Frame]) -> list[Item]:
    return [
        (frame.predicate + 1, start + 1, end + 1, role)
        for frame in frames
        for start, end, role in frame.roles
        if role not in NO_ARGUMENT
    ]


def _lowest_phrases(tree: ConTree) -> list[Item]:
    """Phrases right above the part-of-speech tags (height 3): the tree's order puts what is inside right after."""
    following = [*tree.spans[1:], None]
    return [
        (0, start + 1, end + 1, label)
        for (start, end, label), inside in zip(tree.spans, following, strict=True)
        if inside is None or inside[0] >= end
    ]
