"""Correlations against scipy, on thousands of random cases; exchanged predictions against plain ranking."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mtlspec.metrics.correlation import Correlation

EXACT = 1e-12


def _expected(gold: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constants: nan, which counts as 0
        found = stats.pearsonr(gold, predicted).statistic, stats.spearmanr(gold, predicted).statistic
    return tuple(0.0 if np.isnan(value) else float(value) for value in found)  # type: ignore[return-value]


def _check(gold: np.ndarray, predicted: np.ndarray) -> None:
    metric = Correlation()
    found = metric.score_rows(metric.counts(gold.tolist(), predicted.tolist()))
    pearson, spearman = _expected(gold, predicted)
    assert float(found["pearson"]) / 100 == pytest.approx(pearson, abs=EXACT)
    assert float(found["spearman"]) / 100 == pytest.approx(spearman, abs=EXACT)
    assert float(found["pearson_spearman"]) / 100 == pytest.approx((pearson + spearman) / 2, abs=EXACT)


def test_correlations_are_those_of_scipy_on_thousands_of_cases() -> None:
    rng = np.random.default_rng(5)
    for case in range(3000):
        size = int(rng.integers(2, 60))
        gold = rng.normal(rng.normal(), np.exp(rng.normal()), size)
        predicted = gold * rng.normal() + rng.normal(0, np.exp(rng.normal()), size)
        if case % 3 == 0:
            gold, predicted = np.round(gold), np.round(predicted, 1)  # ties
        if case % 20 == 0:
            predicted[:] = rng.normal()  # a constant whose mean may be rounded
        if case % 30 == 0:
            gold[:] = 0.1
        _check(gold, predicted)


@given(st.lists(st.tuples(st.integers(-3, 3), st.floats(-5, 5, width=16)), min_size=2, max_size=25))
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, float]]) -> None:
    gold, predicted = np.array(pairs, np.float64).T
    if 0 < np.ptp(predicted) < 1e-3:  # scipy itself loses digits there
        predicted = np.round(predicted, 3)
    _check(gold, predicted)


@pytest.mark.parametrize("scale", [1e-200, 1e-5, 1e150])
def test_scale_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(1)
    gold, predicted = rng.normal(size=(2, 30))
    metric = Correlation()
    plain, scaled = (metric.score_rows(metric.counts(gold, predicted * s)) for s in (1.0, scale))  # type: ignore[arg-type]
    assert float(scaled["pearson"]) == pytest.approx(float(plain["pearson"]), abs=1e-10)


def test_golden_values_and_constants() -> None:
    metric = Correlation("pearson")
    found = metric.score_rows(metric.counts([1, 2, 3, 4], [1, 3, 2, 4]))
    assert float(found["pearson"]) == pytest.approx(80.0)
    assert float(found["spearman"]) == pytest.approx(80.0)
    for gold, predicted in (([1, 2, 3], [0.1] * 3), ([0.1] * 3, [1, 2, 3]), ([1], [2]), ([], [])):
        assert set(map(float, metric.score_rows(metric.counts(gold, predicted)).values())) == {0.0}
    assert metric.label_scores([1], [2]) == {}


def test_parts_are_merged_exactly_and_runs_are_averaged() -> None:
    rng = np.random.default_rng(3)
    gold, one, two = rng.normal(size=(3, 40))
    metric = Correlation()
    rows = [metric.counts(gold, side) for side in (one, two)]  # type: ignore[arg-type]
    merged = np.concatenate([metric.counts(gold[:9], one[:9]), metric.counts(gold[9:], one[9:])])  # type: ignore[arg-type]
    assert metric.score_rows(merged) == metric.score_rows(rows[0])
    pooled = metric.score_rows(metric.pool(rows))
    for name, value in pooled.items():
        assert value == pytest.approx(np.mean([metric.score_rows(side)[name] for side in rows]))


@pytest.mark.parametrize("main", ["pearson", "spearman", "pearson_spearman"])
@pytest.mark.parametrize("runs", [1, 3])
def test_exchanged_predictions_score_as_if_they_were_ranked_again(main: str, runs: int) -> None:
    rng = np.random.default_rng(runs)
    metric = Correlation(main)  # type: ignore[arg-type]
    gold = np.round(rng.normal(size=25), 1)
    a, b = (
        metric.pool([metric.counts(gold, np.round(gold + rng.normal(size=25), 1)) for _ in range(runs)])  # type: ignore[arg-type]
        for _ in "ab"
    )
    at = np.flatnonzero((a != b).any(axis=1))
    sides = rng.integers(0, 2, (50, len(at)), np.uint8)
    found = metric.exchange(a, b, at)(sides)
    for row, value in zip(sides, found, strict=True):
        swapped = np.zeros(25, bool)
        swapped[at] = row
        mine, theirs = np.where(swapped[:, None], b, a), np.where(swapped[:, None], a, b)
        expected = metric.score_rows(mine)[main] - metric.score_rows(theirs)[main]
        assert value == pytest.approx(float(expected), abs=1e-10)


def test_what_cannot_be_compared_is_refused() -> None:
    metric = Correlation()
    with pytest.raises(ValueError, match="2 gold numbers, 1 predicted"):
        metric.counts([1, 2], [1])
    with pytest.raises(ValueError, match="different gold numbers"):
        metric.exchange(metric.counts([1, 2], [1, 2]), metric.counts([1, 3], [1, 2]), np.arange(2))
    with pytest.raises(ValueError, match="no correlation 'kendall'"):
        Correlation("kendall")  # type: ignore[arg-type]
