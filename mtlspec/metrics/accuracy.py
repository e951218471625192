"""Tag accuracy: the share of words whose tag is right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.metric import (
    NO_TAG,
    AdditiveMetric,
    Counts,
    Scores,
    aligned_lengths,
    label_table,
    percentage,
    tag_codes,
)


class TagAccuracy(AdditiveMetric):
    """Over all words that have a gold tag, punctuation included."""

    kind = "tag_accuracy"
    main = "accuracy"
    columns = ("correct", "words")

    def counts(self, gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]]) -> Counts:
        _, sentence, gold_codes, predicted_codes = _compared(gold, predicted)
        found = (sentence[gold_codes == predicted_codes], sentence)
        return np.stack([np.bincount(part, minlength=len(gold)) for part in found], axis=1)

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        correct, words = np.moveaxis(np.asarray(totals), -1, 0)
        return {"accuracy": percentage(correct, words)}

    def label_scores(
        self, gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]]
    ) -> dict[str, dict[str, float]]:
        tags, _, gold_codes, predicted_codes = _compared(gold, predicted)
        sides = (gold_codes[gold_codes == predicted_codes], predicted_codes, gold_codes)
        return label_table(tags, *(np.bincount(codes, minlength=len(tags)) for codes in sides))


def _compared(
    gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str]]
) -> tuple[list[str], Counts, Counts, Counts]:
    """Tags; and sentence, gold tag and predicted tag of every word that has a gold tag."""
    lengths = aligned_lengths(gold, predicted)
    tags, (gold_codes, predicted_codes) = tag_codes(gold, predicted)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    known = gold_codes != NO_TAG
    return tags, sentence[known], gold_codes[known], predicted_codes[known]
