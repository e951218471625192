"""Entity F1 over explicit spans, which may nest: right are those with the right start, end and type; micro-averaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.metric import AdditiveMetric, Counts, Scores, label_table, precision_recall_f1
from mtlspec.metrics.schemes import Scheme, Span, hidden_words, spans_of

Item = TypeVar("Item")


class GoldSpans(list[Span]):
    """Spans of a sentence that know about which words the gold tags say nothing (`schemes.hidden_words`)."""

    def __init__(self, tags: Sequence[str | None], scheme: Scheme) -> None:
        self.hidden = hidden_words(tags, scheme)
        spans = spans_of(tags, scheme)
        super().__init__(span for span in spans if not self.hides(span))

    def hides(self, span: Span) -> bool:
        return bool(self.hidden) and not self.hidden.isdisjoint(range(span[0], span[1]))


class EntityF1(AdditiveMetric):
    """Compares the spans of sentences as sets; predicted ones that hold a hidden word of `GoldSpans` do not count."""

    kind = "entity_f1"
    main = "f1"
    columns = ("correct", "predicted", "gold")

    def counts(self, gold: Sequence[Collection[Span]], predicted: Sequence[Collection[Span]]) -> Counts:
        return set_counts([set(spans) for spans in gold], _seen(gold, predicted))

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        return precision_recall_f1(totals)

    def label_scores(
        self, gold: Sequence[Collection[Span]], predicted: Sequence[Collection[Span]]
    ) -> dict[str, dict[str, float]]:
        return set_label_scores([set(spans) for spans in gold], _seen(gold, predicted), lambda span: span[2])


def _seen(gold: Sequence[Collection[Span]], predicted: Sequence[Collection[Span]]) -> list[set[Span]]:
    """The predicted spans that the gold annotation can judge."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold sentences, {len(predicted)} predicted ones")
    return [
        {span for span in found if not right.hides(span)} if isinstance(right, GoldSpans) else set(found)
        for right, found in zip(gold, predicted, strict=True)
    ]


def set_counts(gold: Sequence[AbstractSet[Item]], predicted: Sequence[AbstractSet[Item]]) -> Counts:
    """(correct, predicted, gold) of every sentence [N, 3]."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold sentences, {len(predicted)} predicted ones")
    found = [(len(right & given), len(given), len(right)) for right, given in zip(gold, predicted, strict=True)]
    return np.array(found, np.int64).reshape(-1, 3)


def set_label_scores(
    gold: Sequence[AbstractSet[Item]], predicted: Sequence[AbstractSet[Item]], label: Callable[[Item], str]
) -> dict[str, dict[str, float]]:
    """The same per label of the items."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold sentences, {len(predicted)} predicted ones")
    shared = [right & given for right, given in zip(gold, predicted, strict=True)]
    tallies = [Counter(label(item) for items in side for item in items) for side in (shared, predicted, gold)]
    labels = sorted(tallies[1].keys() | tallies[2].keys())
    return label_table(labels, *(np.array([tally[name] for name in labels], np.int64) for tally in tallies))
