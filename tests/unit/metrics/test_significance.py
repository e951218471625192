"""Significance tests against full enumeration, published examples and scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.classes import ClassScores
from mtlspec.metrics.correlation import Correlation
from mtlspec.metrics.entities import EntityF1
from mtlspec.metrics.metric import Metric, Rows
from mtlspec.metrics.significance import holm, paired_randomisation

ACCURACY = TagAccuracy()


def _exact(metric: Metric, a: Rows, b: Rows) -> float:
    """The share of all ways to change sides whose difference is at least the observed one."""
    observed = abs(metric.score_rows(a)[metric.main] - metric.score_rows(b)[metric.main])
    sides = np.array(list(product([False, True], repeat=len(a))))[..., None]
    first, second = (metric.score_rows(np.where(sides, *pair))[metric.main] for pair in ((b, a), (a, b)))
    return float(np.mean(np.abs(first - second) >= observed - 1e-9))


@pytest.mark.parametrize("metric", [ACCURACY, EntityF1()], ids=["accuracy", "f1"])
def test_randomisation_approaches_full_enumeration(metric: Metric) -> None:
    rng = np.random.default_rng(3)
    a, b = (np.sort(rng.integers(0, 9, (10, len(metric.columns))), axis=1).astype(np.int64) for _ in "ab")
    exact = _exact(metric, a, b)
    assert 0.02 < exact < 0.98
    # One round short of all arrangements: they are drawn, not enumerated.
    assert paired_randomisation(metric, a, b, 1023, 1) == pytest.approx(exact, abs=0.05)


@pytest.mark.parametrize("metric", [ACCURACY, EntityF1()], ids=["accuracy", "f1"])
@given(data=st.data())
@settings(max_examples=40)
def test_few_differing_sentences_give_the_exact_p(metric: Metric, data) -> None:
    width = len(metric.columns)
    row = st.lists(st.integers(0, 5), min_size=width, max_size=width).map(sorted)
    rows = data.draw(st.lists(st.tuples(row, row), min_size=1, max_size=6))
    a, b = (np.array(side, np.int64) for side in zip(*rows, strict=True))
    assert paired_randomisation(metric, a, b, 64, 1) == pytest.approx(_exact(metric, a, b))


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize("main", ["matthews", "f1", "f1_macro"])
def test_scores_of_classes_have_exact_tests(main: str, seeds: int) -> None:
    rng = np.random.default_rng(seeds)
    metric = ClassScores(["a", "b", "c"], main, "b")  # type: ignore[arg-type]
    gold = rng.choice(list("abc"), 9)
    a, b = (metric.pool([metric.counts(gold, rng.choice(list("abc"), 9)) for _ in range(seeds)]) for _ in "ab")
    assert paired_randomisation(metric, a, b, 512, 1) == pytest.approx(_exact(metric, a, b))


@pytest.mark.parametrize("seeds", [1, 2])
@pytest.mark.parametrize("main", ["pearson", "spearman"])
def test_correlations_have_exact_tests(main: str, seeds: int) -> None:
    rng = np.random.default_rng(seeds)
    metric = Correlation(main)  # type: ignore[arg-type]
    gold = rng.integers(0, 6, 9).tolist()
    a, b = (metric.pool([metric.counts(gold, rng.integers(0, 6, 9).tolist()) for _ in range(seeds)]) for _ in "ab")
    assert paired_randomisation(metric, a, b, 512, 1) == pytest.approx(_exact(metric, a, b))
    assert 0 < paired_randomisation(metric, a, b, 100, 1) <= 1


def test_equal_models_have_p_one_and_opposite_ones_the_least_possible() -> None:
    a = np.stack([np.full(40, 9), np.full(40, 10)], 1)
    b = np.stack([np.full(40, 1), np.full(40, 10)], 1)
    assert paired_randomisation(ACCURACY, a, a, 500, 1) == 1.0
    assert paired_randomisation(ACCURACY, a, b, 500, 1) == 1 / 501


def test_the_seed_decides_and_the_order_of_models_does_not() -> None:
    rng = np.random.default_rng(0)
    a, b = (np.stack([rng.integers(3, 9, 30), np.full(30, 10)], 1) for _ in "ab")
    one = paired_randomisation(ACCURACY, a, b, 700, 5)
    assert one == paired_randomisation(ACCURACY, a, b, 700, 5)
    assert one == paired_randomisation(ACCURACY, b, a, 700, 5)
    assert one != paired_randomisation(ACCURACY, a, b, 700, 6)


def test_models_on_different_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="paired counts"):
        paired_randomisation(ACCURACY, np.ones((3, 2), np.int64), np.ones((4, 2), np.int64), 10, 1)


def test_holm_worked_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert len(holm([])) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=60)
def test_holm_keeps_the_order_and_lies_between_p_and_bonferroni(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= value <= min(1.0, len(ps) * p) + 1e-12 for p, value in zip(ps, adjusted, strict=True))
    assert all(np.diff(adjusted[np.argsort(ps, kind="stable")]) >= 0)
