"""Dependency parsing: each word chooses its head by biaffine scores; a tree decoder steps in where that is no tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from mtlspec.errors import DataError
from mtlspec.model.task import Task
from mtlspec.spec.families import LayerKind, TaskOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.data.sentence import DepTree
    from mtlspec.metrics.attachment import GoldTree
    from mtlspec.metrics.metric import Metric
    from mtlspec.model.encoder.states import States

UNKNOWN = -1  # a relation that training never saw
_TAG_LAYERS = {"ptb": "xpos", "upos": "upos"}


class Options(TaskOptions):
    reads: ClassVar[frozenset[LayerKind]] = frozenset({"dep"})
    type: Literal["biaffine_dep"]
    arc_size: Annotated[int, Field(gt=0)] = Field(default=500, description="Width of the arc perceptrons.")
    rel_size: Annotated[int, Field(gt=0)] = Field(default=100, description="Width of the relation perceptrons.")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.33, description="After the perceptrons, the same for all words of a sentence."
    )
    tree: Literal["projective", "nonprojective"] = Field(
        default="projective",
        description=(
            "What is searched where the best heads of the words are no tree with one root: the best tree without "
            "crossing arcs (Eisner), or with them (Chu-Liu-Edmonds)."
        ),
    )
    punctuation: Literal["none", "unicode_p", "ptb", "upos"] = Field(
        default="unicode_p",
        description=(
            "Words that the second pair of scores leaves out: those of Unicode's punctuation characters, or with a "
            "punctuation tag of the Penn Treebank or of Universal Dependencies. `none`: no second pair."
        ),
    )
    punctuation_layer: str | None = Field(
        default=None, description="The tag layer of the rules `ptb` and `upos`; by default `xpos` and `upos`."
    )
    subtypes: bool = Field(default=True, description="Whether LAS tells `nmod:poss` from `nmod`; CoNLL 2018 does not.")

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return BiaffineDep(name, self, labels, width)


class ArcGold(NamedTuple):
    """Heads and relations of a split's words end to end, int64 [total] each; offsets int64 [N + 1]."""

    heads: Tensor
    rels: Tensor
    offsets: Tensor


class BiaffineDep(Task):
    """It predicts the relations of the training data, in their sorted order."""

    extension = "conllu"

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.metrics.attachment import Attachment
        from mtlspec.model.tasks._dependency_scorer import DependencyScorer

        super().__init__(name, options, labels)
        self.rels = sorted(labels)
        self.metric: Metric = Attachment(options.punctuation, options.subtypes)
        self._options = options
        self.module = self._scorer = DependencyScorer(
            width, options.arc_size, options.rel_size, len(self.rels), options.dropout
        )

    def encode(self, split: PreparedSplit) -> ArcGold:
        self._punctuation_tags(split)  # a missing layer is reported before training, not after it
        heads, offsets = split.flat(f"{self.layer}.heads")
        return ArcGold(heads.long(), split.codes(f"{self.layer}.rels", self.rels), offsets)

    def loss(self, states: States, batch: Batch, gold: ArcGold) -> Tensor:
        """Cross-entropy of the heads plus that of the known relations at the gold heads, each a mean over words."""
        from torch.nn.functional import cross_entropy

        from mtlspec.data.transfer import to_device
        from mtlspec.model.ragged import members

        owner, place = members(gold.offsets, batch.rows)
        columns = owner, place - gold.offsets[batch.rows][owner], gold.heads[place], gold.rels[place]
        owner, word, heads, rels = (to_device(column, batch.word_mask.device) for column in columns)
        arcs = self._scorer.arcs(states, batch.word_mask)
        chosen = arcs.flatten(0, 1).index_select(0, owner * arcs.shape[1] + word)  # [M, W + 1]
        found = self._scorer.relations(states, owner, word, heads)
        labelled = cross_entropy(found, rels, ignore_index=UNKNOWN, reduction="sum")
        return cross_entropy(chosen, heads) + labelled / (rels != UNKNOWN).sum().clamp(min=1)

    def decode(self, states: States, batch: Batch) -> list[DepTree]:
        from mtlspec.data.sentence import DepTree

        heads = self._trees(self._scorer.arcs(states, batch.word_mask), batch.word_mask)
        owner, word = batch.word_mask.nonzero(as_tuple=True)
        chosen = heads[owner, word]
        rels = self._scorer.relations(states, owner, word, chosen).argmax(1)
        found_heads, found_rels = chosen.tolist(), [self.rels[rel] for rel in rels.tolist()]
        trees, start = [], 0
        for length in batch.word_mask.sum(1).tolist():
            part = slice(start, start + length)
            trees.append(DepTree(tuple(found_heads[part]), tuple(found_rels[part])))
            start += length
        return trees

    def _trees(self, arcs: Tensor, mask: Tensor) -> Tensor:
        """Heads int64 [B, W]: each word's best one where these are a tree with one root, else that of the best tree."""
        import torch
        from torch.nn.functional import pad

        from mtlspec.structs import arborescence, eisner
        from mtlspec.structs.arcs import is_single_rooted

        heads = arcs.argmax(2)
        broken = (~is_single_rooted(heads, mask)).nonzero().squeeze(1)
        if len(broken):
            decoder = eisner if self._options.tree == "projective" else arborescence
            scores = pad(arcs[broken], (0, 0, 1, 0))  # a row for ROOT, which has no head
            heads = torch.index_copy(heads, 0, broken, decoder.best_trees(scores, mask[broken].sum(1)))
        return heads

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        """Mean over the words of the entropy of their heads, as a share of that of all words and ROOT alike."""
        import torch

        mask = batch.word_mask
        entropy = torch.special.entr(self._scorer.arcs(states, mask).detach().softmax(2)).sum(2)  # [B, W]
        words = mask.sum(1).clamp(min=1)
        found: Tensor = entropy.masked_fill(~mask, 0.0).sum(1) / (words * torch.log(words + 1.0))
        return found.clamp(0.0, 1.0)

    def gold_values(self, split: PreparedSplit) -> Sequence[GoldTree]:
        """Trees without words where the data have none; a word without the tag that a rule reads is no punctuation."""
        from mtlspec.metrics.attachment import GoldTree, punctuation

        rule, tags = self._options.punctuation, self._punctuation_tags(split)
        trees = []
        for row, tree in enumerate(split.values(self.layer)):
            if tree is None:
                trees.append(GoldTree((), (), ()))
                continue
            words = split.words(row)
            given = (tags[row] if tags else None) or [None] * len(words)
            trees.append(GoldTree(tree.heads, tree.rels, punctuation(rule, words, given)))
        return trees

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[DepTree | None], path: Path) -> None:
        """CoNLL-U with the predicted heads and relations, and the tags of the data where they have such layers."""
        from mtlspec.data.sentence import Sentence
        from mtlspec.data.writers import conllu
        from mtlspec.io.write import write_text

        tags = {name: split.strings(name) for name in ("upos", "xpos") if split.has_tags(name)}
        sentences = []
        for row, tree in enumerate(predictions):
            if tree is None:
                continue
            given = {name: tuple(tag or "_" for tag in column[row]) for name, column in tags.items() if column[row]}
            sentences.append(Sentence(str(row + 1), tuple(split.words(row)), {**given, "dep": tree}))
        write_text(path, conllu(sentences))

    def _punctuation_tags(self, split: PreparedSplit) -> list[list[str | None]] | None:
        """The tags that the punctuation rule reads, if it reads any."""
        rule = self._options.punctuation
        if rule not in _TAG_LAYERS:
            return None
        layer = self._options.punctuation_layer or _TAG_LAYERS[rule]
        if not split.has_tags(layer):
            message = f"task '{self.name}': the punctuation rule '{rule}' reads a tag layer '{layer}'; there is none"
            raise DataError("E286", message, hint="name one with `punctuation_layer`, or use the rule `unicode_p`")
        return split.strings(layer)
