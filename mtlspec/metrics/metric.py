"""What every metric is: additive counts per sentence, and scores computed from their sums.

Sums of counts give corpus scores; swapped or resampled sums give significance tests without predicting again.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]


class Metric(Protocol):
    """`main` is the score that decides; all scores are percentages."""

    main: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the counts."""
        ...

    def counts(self, gold: Sequence[Any], predicted: Sequence[Any]) -> Counts:
        """One row a sentence, one column a count: [N, K]."""
        ...

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        """Scores of summed counts [..., K], each [...]."""
        ...

    def label_scores(self, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, dict[str, float]]:
        """Label -> precision, recall, f1 (percent) and support."""
        ...


def percentage(part: npt.ArrayLike, whole: npt.ArrayLike) -> Scores:
    """100 * part / whole; 0 where the whole is 0."""
    numerator, denominator = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    result = np.zeros(numerator.shape)
    np.divide(100.0 * numerator, denominator, out=result, where=denominator != 0)
    return result


def precision_recall_f1(totals: npt.ArrayLike) -> dict[str, Scores]:
    """Micro scores of (correct, predicted, gold) totals [..., 3]."""
    correct, predicted, gold = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
    return {
        "precision": percentage(correct, predicted),
        "recall": percentage(correct, gold),
        "f1": percentage(2 * correct, predicted + gold),
    }


def label_table(labels: Sequence[str], correct: Counts, predicted: Counts, gold: Counts) -> dict[str, dict[str, float]]:
    """Per label: precision, recall, f1 and how often it is in the gold data, sorted by label."""
    scores = precision_recall_f1(np.stack([correct, predicted, gold], axis=-1))
    return {
        labels[i]: {**{name: float(values[i]) for name, values in scores.items()}, "support": int(gold[i])}
        for i in sorted(range(len(labels)), key=lambda i: labels[i])
    }


def aligned_lengths(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> Counts:
    """Sentence lengths [N], or an error if the two sides do not describe the same sentences."""
    lengths = np.fromiter(map(len, gold), np.int64, len(gold))
    others = np.fromiter(map(len, predicted), np.int64, len(predicted))
    if len(lengths) != len(others):
        raise ValueError(f"{len(lengths)} gold sentences, {len(others)} predicted ones")
    wrong = np.flatnonzero(lengths != others)
    if wrong.size:
        first = int(wrong[0])
        raise ValueError(f"sentence {first}: {lengths[first]} gold tags, {others[first]} predicted ones")
    return lengths


def tag_codes(*sides: Sequence[Sequence[str]]) -> tuple[list[str], list[Counts]]:
    """The tags of all sides, and every side as one flat array of positions in that list."""
    tags = sorted(set(chain.from_iterable(chain.from_iterable(sides))))
    code = {tag: i for i, tag in enumerate(tags)}
    flat = [np.fromiter((code[tag] for sentence in side for tag in sentence), np.int64) for side in sides]
    return tags, flat
