"""Semantic roles end to end: predicates and role spans are ranked together, pair by pair.

A predicate is found by its roles: one that gets none is not predicted, unless predicates are given. Gold roles that are
wider than `max_width` cannot be learnt or predicted, and count as misses. V and C-V mark the predicate itself; they are
neither learnt nor scored. The loss is the mean over kept pairs, as in the released code of the stem cell study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.model.task import Task
from mtlspec.spec.families import LayerKind, TaskOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.data.sentence import Frame
    from mtlspec.metrics.metric import Metric
    from mtlspec.model.encoder.states import States
    from mtlspec.model.role_gold import RoleGold
    from mtlspec.model.span_ranking import Ranked

Size = Annotated[int, Field(gt=0)]
Ratio = Annotated[float, Field(gt=0)]


class Options(TaskOptions):
    reads: ClassVar[frozenset[LayerKind]] = frozenset({"srl"})
    type: Literal["span_srl"]
    predicates: Literal["predicted", "gold"] = Field(
        default="predicted", description="`gold`: predicates are given, in training and in prediction."
    )
    max_width: Size = Field(default=30, description="Words of the widest span that is considered.")
    argument_ratio: Ratio = Field(default=0.8, description="Spans that are kept, times the words of the sentence.")
    predicate_ratio: Ratio = Field(
        default=0.4, description="Predicates that are kept, times the words of the sentence."
    )
    keep_gold: bool = Field(
        default=False,
        description="Whether training keeps gold spans and predicates whatever their score. The paper does not: a gold "
        "span that ranks low is then not learnt from. Helps where sentences are few.",
    )
    mean: Literal["true_width", "max_width"] = Field(
        default="true_width", description="The sum of a span's words is divided by this; `max_width` as released."
    )
    width_size: Size = Field(default=20, description="Size of the width embedding.")
    size: Size = Field(default=150, description="Two hidden layers of the scorers of spans and of predicates.")
    label_size: Size = Field(default=100, description="Two hidden layers of the scorer of pairs; 150 as released.")
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(default=0.2, description="After every hidden layer.")

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return SpanSrl(name, self, labels, width)


class SpanSrl(Task):
    """Class 0 is no role; the others are the roles of the training data, in their sorted order."""

    extension = "conll12"

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.metrics.roles import VERB_ROLES, RoleF1
        from mtlspec.model.span_ranking import Ranker, RankerSizes

        super().__init__(name, options, labels)
        self.metric: Metric = RoleF1()
        self.roles = sorted(set(labels) - VERB_ROLES)
        if not self.roles:
            raise StageError("E448", f"task '{name}': the training data of layer '{self.layer}' have no roles")
        self._options = options
        self._given: tuple[PreparedSplit, RoleGold] | None = None
        sizes = RankerSizes(
            words=width,
            width_embedding=options.width_size,
            scorer=options.size,
            pair=options.label_size,
            roles=len(self.roles),
            max_width=options.max_width,
            span_ratio=options.argument_ratio,
            predicate_ratio=options.predicate_ratio,
        )
        self.module: Ranker = Ranker(
            sizes, options.mean, options.dropout, given_predicates=options.predicates == "gold"
        )

    def encode(self, split: PreparedSplit) -> RoleGold:
        from mtlspec.model.role_gold import encode_roles

        return encode_roles(split, self.layer, self.roles, self._options.max_width)

    def loss(self, states: States, batch: Batch, gold: RoleGold) -> Tensor:
        """Mean cross-entropy of kept pairs; those whose role training never saw are left out."""
        from torch.nn.functional import cross_entropy, pad

        from mtlspec.data.transfer import to_device
        from mtlspec.model.role_gold import UNKNOWN, pair_classes

        ranked = self._rank(states, batch, gold)
        words = batch.word_mask.shape[1]
        spans = self.module.spans(words, states.words.device)
        classes = to_device(pair_classes(ranked, spans, words, batch.rows, gold).flatten(), ranked.scores.device)
        scores = pad(ranked.scores.float(), (1, 0)).flatten(0, 2)  # no role scores 0
        total: Tensor = cross_entropy(scores, classes, ignore_index=UNKNOWN, reduction="sum")
        return total / (classes != UNKNOWN).sum().clamp(min=1)

    def decode(self, states: States, batch: Batch) -> list[tuple[Frame, ...]]:
        """For each predicate the spans of the best total without overlaps, among themselves and with the predicate."""
        from mtlspec.data.sentence import Frame
        from mtlspec.model.ragged import borders
        from mtlspec.structs.span_packing import best_disjoint

        ranked = self._rank(states, batch)
        spans = self.module.spans(batch.word_mask.shape[1], ranked.scores.device)
        starts, lasts = spans.starts[ranked.spans].unsqueeze(1), spans.lasts[ranked.spans].unsqueeze(1)  # [B, 1, K]
        predicates = ranked.predicates.unsqueeze(2)
        score, role = (part.transpose(1, 2) for part in ranked.scores.max(3))  # [B, P, K]
        mask = ranked.mask.transpose(1, 2)
        apart = (predicates < starts) | (predicates > lasts)  # the predicate itself takes its word
        row, number, kept = ((score > 0) & mask & apart).nonzero(as_tuple=True)
        starts, ends = starts[row, 0, kept], lasts[row, 0, kept] + 1
        count = ranked.predicates.shape[1]
        group = row * count + number
        best = best_disjoint(score[row, number, kept], starts, ends, borders(group, len(score) * count))
        frames: list[dict[int, list[tuple[int, int, str]]]] = [{} for _ in range(len(score))]
        if self._options.predicates == "gold":
            for b, p in mask.any(2).nonzero().tolist():
                frames[b][int(ranked.predicates[b, p])] = []
        columns = (row, ranked.predicates[row, number], starts, ends, role[row, number, kept])
        for b, predicate, start, end, label in zip(*(column[best].tolist() for column in columns), strict=True):
            frames[b].setdefault(predicate, []).append((start, end, self.roles[label]))
        return [tuple(Frame(p, "", tuple(sorted(found[p]))) for p in sorted(found)) for found in frames]

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        """Mean over kept pairs of the entropy of their roles, as a share of the largest one possible."""
        from torch.nn.functional import pad

        from mtlspec.model.entropy import normalised_entropy

        ranked = self._rank(states, batch)
        entropy = normalised_entropy(pad(ranked.scores.detach().float(), (1, 0)).softmax(3))  # [B, K, P]
        return entropy.masked_fill(~ranked.mask, 0.0).sum((1, 2)) / ranked.mask.sum((1, 2)).clamp(min=1)

    def gold_values(self, split: PreparedSplit) -> Sequence[tuple[Frame, ...] | None]:
        return split.values(self.layer)

    def write_predictions(
        self, split: PreparedSplit, predictions: Sequence[tuple[Frame, ...] | None], path: Path
    ) -> None:
        """CoNLL-2012 columns; senses are not predicted, so their column only marks predicates."""
        from mtlspec.data.sentence import Sentence
        from mtlspec.data.writers import conll2012
        from mtlspec.io.write import write_text

        sentences = (
            Sentence(str(row), tuple(split.words(row)), {"srl": frames})
            for row, frames in enumerate(predictions)
            if frames is not None
        )
        write_text(path, conll2012(sentences, self.name))

    def _rank(self, states: States, batch: Batch, gold: RoleGold | None = None) -> Ranked:
        """With `gold`, as training ranks."""
        from mtlspec.data.transfer import to_device
        from mtlspec.model.role_gold import given_predicates, gold_candidates

        device, rows, words = states.words.device, batch.rows, batch.word_mask.shape[1]
        given = wanted = None
        if self._options.predicates == "gold":
            places, mask = given_predicates(gold or self._given_gold(batch), rows)
            given = to_device(places, device), to_device(mask, device)
        if gold and self._options.keep_gold:
            spans, predicates = gold_candidates(gold, rows, self.module.spans(words, device), words)
            wanted = to_device(spans, device), to_device(predicates, device)
        ranked: Ranked = self.module(states.words, batch.word_mask, given, wanted)
        return ranked

    def _given_gold(self, batch: Batch) -> RoleGold:
        """The annotation from which a batch to be predicted takes its predicates."""
        if batch.split is None:
            raise StageError(
                "E449", f"task '{self.name}' needs gold predicates, but a batch does not say of what split"
            )
        if self._given is None or self._given[0] is not batch.split:
            self._given = (batch.split, self.encode(batch.split))
        return self._given[1]
