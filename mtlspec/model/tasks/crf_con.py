"""Constituency parsing in two stages: a tree CRF over unlabelled binary spans, then a label for each span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from mtlspec.model.task import Task
from mtlspec.spec.families import LayerKind, TaskOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.data.sentence import ConTree
    from mtlspec.metrics.metric import Metric
    from mtlspec.model.encoder.states import States
    from mtlspec.model.tasks._phrase_labels import TreeGold


class Options(TaskOptions):
    reads: ClassVar[frozenset[LayerKind]] = frozenset({"con"})
    type: Literal["crf_con"]
    span_size: Annotated[int, Field(ge=1)] = Field(default=500, description="Width of the vectors that spans score.")
    label_size: Annotated[int, Field(ge=1)] = Field(default=100, description="Width of the vectors that labels score.")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.33, description="On those vectors; the same features of all words of a sentence are dropped."
    )
    slope: Annotated[float, Field(ge=0, lt=1)] = Field(default=0.1, description="Of the leaky rectifier below zero.")
    decode: Literal["mbr", "best"] = Field(
        default="mbr", description="The tree with the most expected right spans (`mbr`), or the most probable one."
    )

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return CrfConstituency(name, self, labels, width)


class CrfConstituency(Task):
    """Trees are learnt left-binarised, without their root, a unary chain as one label, and given back as they were.

    `labels` are the chains of the training trees; a chain that training never saw costs nothing and is never predicted.
    Predicted trees have no pre-terminals; the file of predictions shows those of the data.
    """

    extension = "trees"

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.metrics.brackets import BracketF1
        from mtlspec.model.tasks._fencepost_scorer import FencepostScorer
        from mtlspec.model.tasks._phrase_labels import PhraseLabels

        super().__init__(name, options, labels)
        self.metric: Metric = BracketF1()
        self.phrases = PhraseLabels(labels)
        self._options = options
        self.module: FencepostScorer = FencepostScorer(
            width, options.span_size, options.label_size, len(self.phrases), options.dropout, options.slope
        )

    def encode(self, split: PreparedSplit) -> TreeGold:
        return self.phrases.encode(split, self.layer)

    def loss(self, states: States, batch: Batch, gold: TreeGold) -> Tensor:
        """(log Z - score of the gold tree) per word, plus the mean cross-entropy of the labels of its spans."""
        import torch
        from torch.nn import functional

        from mtlspec.data.transfer import to_device
        from mtlspec.model.tasks._phrase_labels import UNKNOWN
        from mtlspec.structs import tree_crf

        rows, device = batch.rows, batch.word_mask.device
        lengths = gold.lengths[rows]
        sizes = gold.offsets[rows + 1] - gold.offsets[rows]
        shift = gold.offsets[rows] - (sizes.cumsum(0) - sizes)
        place = torch.arange(int(sizes.sum())) + shift.repeat_interleave(sizes)
        cells = to_device(_cells(gold.spans[place], sizes, batch.word_mask.shape[1] + 1), device)
        labels, there = to_device(gold.labels[place], device), to_device(lengths, device)

        posts = self._posts(states, there)
        scores = self.module.spans(posts)
        tree = torch.zeros(scores.shape, dtype=torch.bool, device=device)
        tree.view(-1).index_fill_(0, cells, True)
        structure = tree_crf.nll(scores, there, tree).sum() / int(lengths.sum())
        naming = functional.cross_entropy(
            self.module.labels(posts, cells), labels, reduction="sum", ignore_index=UNKNOWN
        )
        return structure + naming / (labels != UNKNOWN).sum().clamp(min=1)

    def decode(self, states: States, batch: Batch) -> list[ConTree]:
        from mtlspec.structs import cky, tree_crf

        lengths = batch.word_mask.sum(1)
        posts = self._posts(states, lengths)
        scores = self.module.spans(posts)
        if self._options.decode == "mbr":
            scores = tree_crf.marginals(scores, lengths)
        spans, _ = cky.best_trees(scores, lengths)
        sizes = 2 * lengths - 1
        found = self.module.labels(posts, _cells(spans, sizes, posts.shape[1]))
        classes = found.argmax(1)
        if self.phrases.root is None:  # nothing else would hold the sentence together
            tops = sizes.cumsum(0) - sizes
            classes[tops] = found[tops, : self.phrases.chains].argmax(1)
        return self._trees(spans, classes, sizes)

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        """Mean over spans of how unsure it is whether the tree has them, from 0 to 1.

        Single words and the whole sentence, which every tree has, are left out; two words have one tree.
        """
        import torch

        from mtlspec.model.entropy import normalised_entropy
        from mtlspec.structs import tree_crf

        lengths = batch.word_mask.sum(1)
        there = tree_crf.marginals(self.module.spans(self._posts(states, lengths)).detach(), lengths).clamp(0.0, 1.0)
        post = torch.arange(there.shape[1], device=there.device)
        width = (post.unsqueeze(0) - post.unsqueeze(1)).unsqueeze(0)  # [1, F, F]
        size = lengths.view(-1, 1, 1)
        open_ = (width > 1) & (width < size) & (post.view(1, 1, -1) <= size)
        entropy = normalised_entropy(torch.stack([there, 1 - there], 3)).masked_fill(~open_, 0.0)
        return (entropy.sum((1, 2)) / open_.sum((1, 2)).clamp(min=1)).float()

    def _posts(self, states: States, lengths: Tensor) -> Tensor:
        from mtlspec.model.tasks._fencepost_scorer import fenceposts

        return fenceposts(states.words, states.cls, states.sep, lengths)

    def _trees(self, spans: Tensor, classes: Tensor, sizes: Tensor) -> list[ConTree]:
        """Binary trees end to end, outer and left spans first, as trees of phrases."""
        from itertools import islice

        from mtlspec.data.sentence import ConTree

        written, root = self.phrases.written, self.phrases.root
        nodes = iter(zip(*spans.T.tolist(), classes.tolist(), strict=True))
        trees = []
        for size in sizes.tolist():
            phrases = [(i, j, label) for i, j, number in islice(nodes, size) for label in written[number]]
            top = [] if root is None else [(0, (size + 1) // 2, root)]
            trees.append(ConTree((*top, *phrases), ()))
        return trees

    def gold_values(self, split: PreparedSplit) -> Sequence[ConTree | None]:
        return split.values(self.layer)

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[ConTree | None], path: Path) -> None:
        """One bracketed tree a line, with the pre-terminals of the data, `_` where they have none."""
        from mtlspec.data.layers.con import bracketed
        from mtlspec.data.sentence import ConTree
        from mtlspec.io.write import write_text

        pos = split.strings(f"{self.layer}.pos")
        lines = []
        for row, tree in enumerate(predictions):
            if tree is not None:
                words = split.words(row)
                tags = tuple(tag or "_" for tag in pos[row]) or ("_",) * len(words)
                lines.append(bracketed(words, ConTree(tree.spans, tags)) + "\n")
        write_text(path, "".join(lines))


def _cells(spans: Tensor, sizes: Tensor, posts: int) -> Tensor:
    """Places int64 [M], in a flattened [B, F, F], of spans int64 [M, 2]; sizes int64 [B] of the sentences."""
    import torch

    sentence = torch.arange(len(sizes), device=sizes.device).repeat_interleave(sizes)
    return (sentence * posts + spans[:, 0]) * posts + spans[:, 1]
