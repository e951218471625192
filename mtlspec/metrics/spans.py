"""Span F1: a span counts when its start, its end and its type are right; micro-averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.data.span_tags import OUTSIDE, split_tag
from mtlspec.metrics.metric import (
    NO_TAG,
    AdditiveMetric,
    Counts,
    Scores,
    aligned_lengths,
    label_table,
    precision_recall_f1,
    tag_codes,
)
from mtlspec.metrics.schemes import Scheme, hidden_words


class SpanF1(AdditiveMetric):
    """Malformed predictions are read as `schemes.spans_of` reads them, which is what the usual scorers do.

    Where gold words lack a tag, spans that hold one of `schemes.hidden_words` are left out, on both sides.
    """

    kind = "span_f1"
    main = "f1"
    columns = ("correct", "predicted", "gold")

    def __init__(self, scheme: Scheme) -> None:
        self.scheme: Scheme = scheme

    def settings(self) -> dict[str, Any]:
        return {"scheme": self.scheme}

    def counts(self, gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]]) -> Counts:
        lengths, _, gold_spans, predicted_spans, correct = self._compare(gold, predicted)
        sentence = np.repeat(np.arange(len(lengths)), lengths + 1)
        found = [
            np.bincount(sentence[starts], minlength=len(lengths))
            for starts in (correct, predicted_spans[0], gold_spans[0])
        ]
        return np.stack(found, axis=1)

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        return precision_recall_f1(totals)

    def label_scores(
        self, gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]]
    ) -> dict[str, dict[str, float]]:
        _, kinds, gold_spans, predicted_spans, correct = self._compare(gold, predicted)
        right = gold_spans[2][np.isin(gold_spans[0], correct)]
        columns = [np.bincount(found, minlength=len(kinds)) for found in (right, predicted_spans[2], gold_spans[2])]
        used = np.flatnonzero(columns[1] + columns[2])
        return label_table([kinds[i] for i in used], *(column[used] for column in columns))

    def _compare(
        self, gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]]
    ) -> tuple[Counts, list[str], tuple[Counts, Counts, Counts], tuple[Counts, Counts, Counts], Counts]:
        """Sentence lengths, types, (starts, ends, types) of both sides, starts of the spans both sides share.

        Sentences are laid end to end with an O between them, so a start identifies a span on each side.
        """
        lengths = aligned_lengths(gold, predicted)
        tags, flat = tag_codes(gold, predicted, [[OUTSIDE]])
        kinds, prefix_of, kind_of = self._parts(tags)
        breaks, outside = np.cumsum(lengths), tags.index(OUTSIDE)
        gaps = flat[0] == NO_TAG
        hidden = self._hidden(gold, lengths) if gaps.any() else None
        sides = []
        for codes in (np.where(gaps, outside, flat[0]), flat[1]):
            joined = np.insert(codes, breaks, outside)
            spans = _spans(prefix_of[joined], kind_of[joined])
            sides.append(spans if hidden is None else _without(spans, hidden))
        (gold_starts, gold_ends, gold_kinds), (starts, ends, found_kinds) = sides
        both, at_gold, at_predicted = np.intersect1d(gold_starts, starts, assume_unique=True, return_indices=True)
        same = (gold_ends[at_gold] == ends[at_predicted]) & (gold_kinds[at_gold] == found_kinds[at_predicted])
        return lengths, kinds, sides[0], sides[1], both[same]

    def _hidden(self, gold: Sequence[Sequence[str | None]], lengths: Counts) -> Counts:
        """How many hidden words stand before each place of the sentences laid end to end."""
        begins = np.cumsum(lengths + 1) - lengths - 1
        hidden = np.zeros(int((lengths + 1).sum()) + 1, np.int64)
        for begin, tags in zip(begins.tolist(), gold, strict=True):
            hidden[[begin + word + 1 for word in hidden_words(tags, self.scheme)]] = 1
        return np.cumsum(hidden)

    def _parts(self, tags: list[str]) -> tuple[list[str], npt.NDArray[np.str_], Counts]:
        """The span types, and for every tag its prefix and the position of its type (-1 outside)."""
        if self.scheme == "plain":
            parts = [None if tag == OUTSIDE else ("S", tag) for tag in tags]
        else:
            parts = [None if tag == OUTSIDE else split_tag(tag) for tag in tags]
        kinds = sorted({part[1] for part in parts if part})
        place = {kind: i for i, kind in enumerate(kinds)}
        prefixes = np.array([part[0] if part else OUTSIDE for part in parts])
        return kinds, prefixes, np.array([place[part[1]] if part else -1 for part in parts], np.int64)


def _without(spans: tuple[Counts, Counts, Counts], hidden: Counts) -> tuple[Counts, Counts, Counts]:
    """The spans that hold no hidden word; `hidden` is the number of these before each place."""
    starts, ends, kinds = spans
    kept = hidden[starts] == hidden[ends]
    return starts[kept], ends[kept], kinds[kept]


def _spans(prefix: npt.NDArray[np.str_], kind: Counts) -> tuple[Counts, Counts, Counts]:
    """(starts, ends exclusive, types) in a flat tag sequence that ends with O."""
    inside = prefix != OUTSIDE
    before, before_kind = np.roll(prefix, 1), np.roll(kind, 1)
    if prefix.size:
        before[0], before_kind[0] = OUTSIDE, -1
    opens = inside & (np.isin(prefix, ["B", "S"]) | np.isin(before, ["O", "E", "S"]) | (kind != before_kind))
    starts = np.flatnonzero(opens)
    boundaries = np.flatnonzero(opens | ~inside)
    ends = boundaries[np.searchsorted(boundaries, starts, side="right")]
    return starts, ends, kind[starts]
