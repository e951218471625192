"""Tag accuracy: the share of words whose tag is right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.metric import Counts, Scores, aligned_lengths, label_table, percentage, tag_codes


class TagAccuracy:
    """Over all words, punctuation included."""

    main = "accuracy"
    columns = ("correct", "words")

    def counts(self, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Counts:
        lengths = aligned_lengths(gold, predicted)
        _, (gold_codes, predicted_codes) = tag_codes(gold, predicted)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        correct = np.bincount(sentence[gold_codes == predicted_codes], minlength=len(lengths))
        return np.stack([correct, lengths], axis=1)

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        correct, words = np.moveaxis(np.asarray(totals), -1, 0)
        return {"accuracy": percentage(correct, words)}

    def label_scores(
        self, gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
    ) -> dict[str, dict[str, float]]:
        aligned_lengths(gold, predicted)
        tags, (gold_codes, predicted_codes) = tag_codes(gold, predicted)
        count = len(tags)
        correct = np.bincount(gold_codes[gold_codes == predicted_codes], minlength=count)
        return label_table(
            tags, correct, np.bincount(predicted_codes, minlength=count), np.bincount(gold_codes, minlength=count)
        )
