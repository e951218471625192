"""What every metric is: numbers for every example, and scores of any set of examples computed from them.

Whoever has the numbers can merge splits, pool seeds, and exchange or resample examples without predicting again. Most
metrics are additive: sums of their numbers are enough. Correlations are not: they need the examples themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int64] | npt.NDArray[np.float64]
"""One row an example, one column a number: [N, K]; counts are int64, other numbers float64."""

Scores = npt.NDArray[np.float64]
Exchange = Callable[[npt.NDArray[np.uint8]], Scores]
"""uint8 [R, M], 1 where an example changes sides -> the difference of the two sides' main scores [R]."""

NO_TAG = -1  # the code of a word without a tag


class Metric(ABC):
    """`main` is the score that decides; all scores are percentages. Ours are listed in `rebuild.py`."""

    kind: ClassVar[str]  # its name in descriptions
    main: str
    columns: tuple[str, ...]  # names of the numbers

    @abstractmethod
    def counts(self, gold: Sequence[Any], predicted: Sequence[Any]) -> Rows:
        """One row an example: [N, K]."""

    @abstractmethod
    def score_rows(self, rows: npt.ArrayLike) -> dict[str, Scores]:
        """Scores of examples taken together: rows [..., N, K] -> [...] each."""

    @abstractmethod
    def label_scores(self, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, dict[str, float]]:
        """Label -> precision, recall, f1 (percent) and support; empty where there are no labels."""

    @abstractmethod
    def pool(self, runs: Sequence[Rows]) -> Rows:
        """The rows of several models on the same examples as one row an example, which `score_rows` understands."""

    def undefined(self, gold: Sequence[Any]) -> str:
        """Why no prediction of such gold values can have a score, in two words; empty: any can."""
        del gold
        return ""

    def knowing(self, classes: Sequence[str]) -> Metric:
        """This metric for gold values with classes that training never saw; most need not know them."""
        del classes
        return self

    def settings(self) -> dict[str, Any]:
        """Its arguments, as JSON."""
        return {}

    def describe(self) -> dict[str, Any]:
        """JSON from which `rebuild_metric` makes this metric again."""
        return {"type": self.kind, **self.settings()}

    @abstractmethod
    def without_each(self, rows: npt.ArrayLike) -> Scores:
        """The main score without one of the examples, for each of them: rows [..., N, K] of one model -> [..., N]."""

    @abstractmethod
    def exchange(self, a: Rows, b: Rows, at: npt.NDArray[np.intp]) -> Exchange:
        """How main(a) - main(b) changes when examples change sides; `at` [M] are those that may."""


class AdditiveMetric(Metric):
    """A metric whose scores follow from sums of counts."""

    @abstractmethod
    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        """Scores of summed counts [..., K], each [...]."""

    def score_rows(self, rows: npt.ArrayLike) -> dict[str, Scores]:
        return self.scores(np.asarray(rows).sum(axis=-2))

    def pool(self, runs: Sequence[Rows]) -> Rows:
        """Sums over the models: a sentence that all of them get wrong counts as often as there are models."""
        return np.asarray(np.sum(np.stack(runs), axis=0), np.int64)

    def without_each(self, rows: npt.ArrayLike) -> Scores:
        counts = np.asarray(rows)
        return self.scores(counts.sum(axis=-2, keepdims=True) - counts)[self.main]

    def exchange(self, a: Rows, b: Rows, at: npt.NDArray[np.intp]) -> Exchange:
        first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
        total_a, total_b, swap = first.sum(axis=0), second.sum(axis=0), (second - first)[at]

        def difference(sides: npt.NDArray[np.uint8]) -> Scores:
            moved = sides.astype(np.float64) @ swap  # exact: integers far below 2^53
            return self.scores(total_a + moved)[self.main] - self.scores(total_b - moved)[self.main]

        return difference


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


def aligned_lengths(gold: Sequence[Sequence[str | None]], predicted: Sequence[Sequence[str | None]]) -> Counts:
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


def tag_codes(*sides: Sequence[Sequence[str | None]]) -> tuple[list[str], list[Counts]]:
    """The tags of all sides, and every side as one flat array of positions in that list; NO_TAG for None."""
    tags = sorted({tag for tag in chain.from_iterable(chain.from_iterable(sides)) if tag is not None})
    code: dict[str | None, int] = {tag: i for i, tag in enumerate(tags)} | {None: NO_TAG}
    flat = [np.fromiter((code[tag] for sentence in side for tag in sentence), np.int64) for side in sides]
    return tags, flat
