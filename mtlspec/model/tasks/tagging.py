"""Tagging: one label a word, with independent tags or a linear-chain CRF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from mtlspec.kinds import OneOf, parse
from mtlspec.model.span_labels import unreadable_spans
from mtlspec.model.task import Task
from mtlspec.spec.families import TAGGERS, LayerKind, TaggerOptions, TaskOptions, Unreadable

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.metrics.metric import Metric
    from mtlspec.metrics.schemes import Scheme
    from mtlspec.model.encoder.states import States
    from mtlspec.model.tagger import Tagger


class Options(TaskOptions):
    reads: ClassVar[frozenset[LayerKind]] = frozenset({"tags"})
    type: Literal["tagging"]
    decoder: Annotated[TaggerOptions, OneOf(TAGGERS)] = Field(
        default_factory=lambda: parse(TAGGERS, TaggerOptions, {"type": "linear"}),
        description="`linear` or `crf`.",
    )
    scheme: Literal["auto", "plain", "bio", "iobes"] = Field(
        default="auto", description="`plain`: accuracy; `bio`, `iobes`: span F1; `auto` looks at the training tags."
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(default=0.1, description="On word vectors, before the scores.")

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return Tagging(name, self, labels, width)

    def unreadable(self, labels: Sequence[str]) -> Unreadable | None:
        """Where the spec says that the tags spell spans; `auto` takes tags as they are."""
        return unreadable_spans(labels) if self.scheme in ("bio", "iobes") else None


class TagGold(NamedTuple):
    """Tag ids of a split end to end, int64 [total + 1], the last one UNKNOWN for padding; offsets int64 [N + 1]."""

    ids: Tensor
    offsets: Tensor


class Tagging(Task):
    """A tagger over word vectors; it predicts the tags of the training data, in their sorted order."""

    extension = "tsv"

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from torch import nn

        from mtlspec.metrics.accuracy import TagAccuracy
        from mtlspec.metrics.schemes import detect_scheme
        from mtlspec.metrics.spans import SpanF1

        super().__init__(name, options, labels)
        self.tags = sorted(labels)
        scheme: Scheme = detect_scheme(self.tags) if options.scheme == "auto" else options.scheme
        self.metric: Metric = TagAccuracy() if scheme == "plain" else SpanF1(scheme)
        self.decoder = options.decoder
        self._width = width
        self._dropout = nn.Dropout(options.dropout)
        self._tagger = options.decoder.build(width, self.tags, scheme)
        self.module = nn.ModuleDict({"dropout": self._dropout, "tagger": self._tagger.module})

    @property
    def tagger(self) -> Tagger:
        """What scores the tags, whoever's parameters it has."""
        return self._tagger

    def tagger_of(self, tags: Sequence[str]) -> Tagger:
        """A tagger like this task's, with other tags and fresh parameters; it forbids no sequence of them."""
        return self.decoder.build(self._width, tags, "plain")

    def borrow(self, whole: Tagger, tags: Sequence[str], columns: Tensor) -> None:
        """Choose among `tags`, which are columns int64 [C] of a tagger that tasks have in common; who made it keeps it.

        If these are other tags than the task's own, no sequence of them is forbidden.
        """
        from torch import nn

        if list(tags) != self.tags:
            self.tags = list(tags)
            self._tagger = self.tagger_of(tags)
        self._tagger.borrow(whole, columns)
        self.module = nn.ModuleDict({"dropout": self._dropout})

    def encode(self, split: PreparedSplit) -> TagGold:
        import torch

        from mtlspec.model.tagger import UNKNOWN

        codes = split.codes(self.layer, self.tags)
        return TagGold(torch.cat([codes, torch.tensor([UNKNOWN])]), split.offsets(self.layer))

    def loss(self, states: States, batch: Batch, gold: TagGold) -> Tensor:
        import torch

        from mtlspec.data.transfer import to_device

        mask = batch.words_there
        place = gold.offsets[batch.rows].unsqueeze(1) + torch.arange(mask.shape[1])
        tags = to_device(gold.ids[place.masked_fill(~mask, len(gold.ids) - 1)], batch.word_mask.device)
        return self._tagger.loss(self._dropout(states.words), batch.word_mask, tags)

    def decode(self, states: States, batch: Batch) -> list[list[str]]:
        ids = self._tagger.decode(self._dropout(states.words), batch.word_mask).tolist()
        lengths = batch.word_mask.sum(1).tolist()
        return [[self.tags[tag] for tag in row[:length]] for row, length in zip(ids, lengths, strict=True)]

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        """Mean over the words of the entropy of their tags, as a share of the largest one possible."""
        from mtlspec.model.entropy import normalised_entropy

        mask = batch.word_mask
        entropy = normalised_entropy(self._tagger.probabilities(self._dropout(states.words), mask))
        return entropy.masked_fill(~mask, 0.0).sum(1) / mask.sum(1).clamp(min=1)

    def gold_values(self, split: PreparedSplit) -> Sequence[list[str | None]]:
        return split.strings(self.layer)

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Sequence[str] | None], path: Path) -> None:
        """Token, gold tag (`_`: none) and predicted tag a line; a blank line after every predicted sentence."""
        from mtlspec.io.write import write_text

        gold = self.gold_values(split)
        lines: list[str] = []
        for i, predicted in enumerate(predictions):
            if predicted is None:
                continue
            right = [tag if tag is not None else "_" for tag in gold[i]] or ["_"] * len(predicted)
            lines.extend("\t".join(cells) for cells in zip(split.words(i), right, predicted, strict=True))
            lines.append("")
        write_text(path, "\n".join([*lines, ""]) if lines else "")
