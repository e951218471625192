"""Correlations of predicted and gold numbers: Pearson's of the numbers, Spearman's of their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.metric import Exchange, Metric, Rows, Scores

CorrelationName = Literal["pearson", "spearman", "pearson_spearman"]
Floats = npt.NDArray[np.float64]
_AT_ONCE = 50_000  # predictions that change sides at once: what a processor's cache holds


class Correlation(Metric):
    """Scores `pearson`, `spearman` and `pearson_spearman`, their mean, which GLUE's leaderboard has for STS-B.

    A correlation with constant predictions is 0, as GLUE's own scripts count it. Constant gold leaves it undefined.
    Models are pooled by the mean of their correlations: a row then has a pair of numbers for each of them.
    """

    kind = "correlation"
    columns = ("gold", "predicted")

    def __init__(self, main: CorrelationName = "spearman") -> None:
        if main not in get_args(CorrelationName):
            raise ValueError(f"there is no correlation '{main}'")
        self.main: CorrelationName = main

    def settings(self) -> dict[str, Any]:
        return {"main": self.main}

    def undefined(self, gold: Sequence[float]) -> str:
        return "constant gold" if len(set(gold)) < 2 else ""

    def counts(self, gold: Sequence[float], predicted: Sequence[float]) -> Rows:
        if len(gold) != len(predicted):
            raise ValueError(f"{len(gold)} gold numbers, {len(predicted)} predicted ones")
        return np.stack([np.asarray(gold, np.float64), np.asarray(predicted, np.float64)], axis=1)

    def score_rows(self, rows: npt.ArrayLike) -> dict[str, Scores]:
        gold, predicted = _sides(rows)
        return _scores(pearson(gold, predicted), pearson(ranks(gold), ranks(predicted)))

    def label_scores(self, gold: Sequence[float], predicted: Sequence[float]) -> dict[str, dict[str, float]]:
        del gold, predicted
        return {}

    def pool(self, runs: Sequence[Rows]) -> Rows:
        return np.concatenate([np.asarray(run, np.float64) for run in runs], axis=1)

    def without_each(self, rows: npt.ArrayLike) -> Scores:
        """Ranks move up by one behind the example that is left out, by one half beside its equals."""
        gold, predicted = np.moveaxis(np.asarray(rows, np.float64), -1, 0)
        found = []
        if self.main != "spearman":
            found.append(_pearson_without(gold, predicted))
        if self.main != "pearson":
            found.append(_spearman_without(gold, predicted))
        return np.asarray(100.0 * np.mean(found, axis=0))

    def exchange(self, a: Rows, b: Rows, at: npt.NDArray[np.intp]) -> Exchange:
        """Nothing is sorted again: the ranks in a mixture of two lists follow from their common order."""
        gold, first = _sides(a)
        other_gold, second = _sides(b)
        if not np.array_equal(gold, other_gold):
            raise ValueError("two models of different gold numbers cannot change sides")
        mixtures = [_Mixture(one, two) for one, two in zip(first, second, strict=True)]  # one a run
        gold_ranks = ranks(gold)

        def side(taken: npt.NDArray[np.bool_]) -> Scores:
            """The main score [R] where bool [R, N] says which predictions are the second model's."""
            found = []
            for run, mixture in enumerate(mixtures):
                if self.main != "spearman":
                    found.append(pearson(gold[run], np.where(taken, second[run], first[run])))
                if self.main != "pearson":
                    found.append(pearson(gold_ranks[run], mixture.ranks(taken)))
            return np.asarray(100.0 * np.mean(found, axis=0))

        def difference(sides: npt.NDArray[np.uint8]) -> Scores:
            limit = max(1, _AT_ONCE // max(1, gold.shape[1]))
            found = []
            for start in range(0, len(sides), limit):
                part = sides[start : start + limit]
                taken = np.zeros((len(part), gold.shape[1]), np.bool_)
                taken[:, at] = part
                swapped = np.ones_like(taken)
                swapped[:, at] = part == 0
                found.append(side(taken) - side(swapped))
            return np.concatenate(found)

        return difference


def pearson(x: Floats, y: Floats) -> Floats:
    """Correlation of the last axes: [..., N] twice -> [...]; 0 where one of them is constant."""
    if not x.shape[-1]:
        return np.zeros(np.broadcast_shapes(x.shape, y.shape)[:-1])
    return np.asarray(np.clip(np.vecdot(_direction(x), _direction(y)), -1.0, 1.0))


def _pearson_without(x: Floats, y: Floats) -> Floats:
    """Pearson's correlation without each example: [..., N] twice -> [..., N], from sums of deviations."""
    count = x.shape[-1]
    if count < 2:
        return np.zeros(x.shape)
    a, b = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    factor = count / (count - 1)

    def left(one: Floats, two: Floats) -> Floats:
        return np.asarray((one * two).sum(axis=-1, keepdims=True) - factor * one * two)

    square = np.maximum(left(a, a), 0.0) * np.maximum(left(b, b), 0.0)
    scale = np.sqrt(square)
    least = 1e-12 * (a * a).sum(axis=-1, keepdims=True) ** 0.5 * (b * b).sum(axis=-1, keepdims=True) ** 0.5
    defined = scale > least
    return np.asarray(np.clip(np.where(defined, left(a, b) / np.where(defined, scale, 1.0), 0.0), -1.0, 1.0))


def _spearman_without(x: Floats, y: Floats) -> Floats:
    """Spearman's correlation without each example: [..., N] twice -> [..., N]."""
    count = x.shape[-1]
    if count < 2:
        return np.zeros(x.shape)
    found, (first, second) = np.empty(x.shape), (ranks(x), ranks(y))
    limit = max(1, _AT_ONCE * 20 // max(1, x.size))
    for start in range(0, count, limit):
        at = np.arange(start, min(start + limit, count))
        found[..., at] = _correlation_of_ranks(_ranks_without(first, at), _ranks_without(second, at), count - 1)
    return found


def _ranks_without(values: Floats, at: npt.NDArray[np.intp]) -> Floats:
    """Ranks [..., N] as they are without one of the examples `at` [M]: [..., M, N], 0 in its own place."""
    gone = values[..., at, None]
    kept = values[..., None, :] - (values[..., None, :] > gone) - 0.5 * (values[..., None, :] == gone)
    np.put_along_axis(kept, np.broadcast_to(at[:, None], (*kept.shape[:-1], 1)), 0.0, axis=-1)
    return np.asarray(kept)


def _correlation_of_ranks(first: Floats, second: Floats, count: int) -> Floats:
    """[...] of the ranks of `count` examples, whose mean is known; further places hold 0."""
    mean = (count + 1) / 2
    together = np.vecdot(first, second) - count * mean * mean
    spread = [np.maximum(np.vecdot(side, side) - count * mean * mean, 0.0) for side in (first, second)]
    scale = np.sqrt(spread[0] * spread[1])
    defined = scale > 1e-6  # ranks that differ at all are half a rank apart
    return np.asarray(np.clip(np.where(defined, together / np.where(defined, scale, 1.0), 0.0), -1.0, 1.0))


def ranks(values: Floats) -> Floats:
    """Ranks from 1 of the last axis, equal values sharing their mean rank: [..., N] -> [..., N]."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=-1), np.float64) if values.size else values


class _Mixture:
    """Ranks in lists that take each of N numbers from one of two lists, float64 [N] each."""

    def __init__(self, first: Floats, second: Floats) -> None:
        values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
        self._order = np.argsort(place, kind="stable")
        self._last = np.searchsorted(place[self._order], np.arange(len(values)), side="right") - 1  # of equal values
        self._first, self._second = place[: len(first)], place[len(first) :]

    def ranks(self, taken: npt.NDArray[np.bool_]) -> Floats:
        """bool [R, N], True where the second list's number is taken -> float64 [R, N]."""
        if not taken.size:
            return np.zeros(taken.shape)
        second = np.ascontiguousarray(taken.T)  # lists as columns: whole rows are then moved and added
        there = np.concatenate([~second, second])[self._order]
        up_to = np.cumsum(there, axis=0, dtype=np.float64)[self._last]  # [distinct values, R]
        below = np.concatenate([np.zeros((1, len(taken))), up_to[:-1]])
        mean = (up_to + below + 1) / 2
        return np.ascontiguousarray(np.where(second, mean[self._second], mean[self._first]).T, np.float64)


def _direction(x: Floats) -> Floats:
    """x minus its mean, of length 1; zeros for a constant, however its mean was rounded."""
    away = x - x.mean(axis=-1, keepdims=True)
    largest = np.maximum(away.max(axis=-1, keepdims=True), -away.min(axis=-1, keepdims=True))
    constant = x.max(axis=-1, keepdims=True) == x.min(axis=-1, keepdims=True)
    away /= np.where(constant, 1.0, largest)  # squares of tiny and huge numbers would leave the range
    length = np.sqrt(np.vecdot(away, away))[..., None]
    return np.asarray(away * np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, length)))


def _sides(rows: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Rows [..., N, 2 x runs] -> gold and predicted numbers [..., runs, N]."""
    values = np.moveaxis(np.asarray(rows, np.float64), -1, -2)
    return values[..., 0::2, :], values[..., 1::2, :]


def _scores(plain: Floats, ranked: Floats) -> dict[str, Scores]:
    """Correlations [..., runs] -> scores [...]."""
    found = {"pearson": 100.0 * plain.mean(axis=-1), "spearman": 100.0 * ranked.mean(axis=-1)}
    return {**found, "pearson_spearman": (found["pearson"] + found["spearman"]) / 2}
