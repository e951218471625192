"""Statistics of agreement: golden values, references, and what chance gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mtlspec.analyses._agreement import (
    adjusted_r2,
    chance,
    jaccard,
    pairwise,
    pearson,
    shuffled_within_layers,
    spearman,
)

SEEDS = st.integers(0, 10_000)


def _maps(seed: int, count: int) -> np.ndarray:
    return np.random.default_rng(seed).random((count, 4, 6))


@given(seed=SEEDS)
def test_correlations_are_those_of_scipy(seed: int) -> None:
    a, b = _maps(seed, 2).round(1)  # with ties
    assert pearson(a, b) == pytest.approx(stats.pearsonr(a.ravel(), b.ravel())[0])
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a.ravel(), b.ravel())[0])


@given(seed=SEEDS)
def test_r2_of_two_runs_is_the_squared_correlation_adjusted(seed: int) -> None:
    a, b = _maps(seed, 2)
    r2 = pearson(a, b) ** 2
    assert adjusted_r2(np.stack([a, b])) == pytest.approx(1 - (1 - r2) * 23 / 22)


@given(seed=SEEDS)
def test_r2_of_three_runs_is_that_of_the_normal_equations(seed: int) -> None:
    a, b, c = (one.ravel() for one in _maps(seed, 3))
    design = np.stack([np.ones(24), a, b], 1)
    fitted = design @ np.linalg.solve(design.T @ design, design.T @ c)
    r2 = 1 - ((c - fitted) ** 2).sum() / ((c - c.mean()) ** 2).sum()
    assert adjusted_r2(_maps(seed, 3)) == pytest.approx(1 - (1 - r2) * 23 / 21)


def test_a_run_that_follows_from_the_others_is_explained_wholly() -> None:
    a, b = _maps(1, 2)
    assert adjusted_r2(np.stack([a, b, 0.2 + 0.5 * a - 2 * b])) == pytest.approx(1.0)


def test_what_is_not_defined_is_not_a_number() -> None:
    flat, varied = np.ones((4, 6)), _maps(1, 1)[0]
    assert math.isnan(pearson(flat, varied)) and math.isnan(spearman(flat, varied))
    assert math.isnan(adjusted_r2(varied[None])) and math.isnan(adjusted_r2(np.stack([varied, flat])))
    assert math.isnan(jaccard(0 * flat, 0 * flat)) and math.isnan(pairwise(jaccard, [varied]))


def test_overlap() -> None:
    a, b = np.array([[1, 0.5, 0, 0.0]]), np.array([[0.1, 0, 0.2, 0.0]])
    assert jaccard(a, b) == pytest.approx(1 / 3)
    assert pairwise(jaccard, [a, b, a]) == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)


def test_shuffling_keeps_what_each_layer_has() -> None:
    runs = _maps(3, 3)
    drawn = shuffled_within_layers(runs, 50, seed=4)
    assert drawn.shape == (50, 3, 4, 6)
    assert np.array_equal(np.sort(drawn, -1), np.broadcast_to(np.sort(runs, -1), drawn.shape))
    assert np.array_equal(drawn, shuffled_within_layers(runs, 50, seed=4))
    assert not np.array_equal(drawn[0], drawn[1])


def test_equal_runs_beat_chance_and_independent_ones_do_not() -> None:
    one = _maps(5, 1)[0]
    mean, p = chance(adjusted_r2, np.stack([one, one, one]), 200, seed=1)
    assert p == pytest.approx(1 / 201) and abs(mean) < 0.2
    hits = [chance(adjusted_r2, _maps(100 + seed, 3), 100, seed=1)[1] < 0.05 for seed in range(40)]
    assert sum(hits) <= 6  # about 2 of 40 are expected


def test_layers_that_differ_are_no_agreement_on_heads() -> None:
    """Runs that use all heads of a layer and none of another agree on layers; shuffled heads agree as much."""
    runs = np.stack([np.repeat([[1.0], [0.0], [1.0], [0.0]], 6, axis=1)] * 3)
    assert chance(lambda r: pairwise(jaccard, r), runs, 50, seed=1) == (1.0, 1.0)
