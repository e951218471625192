"""Similarity of tasks: small cases worked by hand, brute force, and what must not matter."""

from __future__ import annotations

import math
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mtlspec.analyses._similarity import brain, relation, representations, transfer
from tests.unit.analyses.test_dissociation import TABLE_10

Floats = np.ndarray[Any, np.dtype[np.float64]]
seeds = st.integers(0, 2**32 - 1)
FAST = settings(max_examples=25, deadline=None)


def _random(seed: int, *shape: int) -> Floats:
    return np.random.default_rng(seed).normal(size=shape)


# Sentence vectors


def test_direct_similarity_by_hand() -> None:
    a = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    b = np.array([[3.0, 4.0], [-2.0, -2.0], [1.0, 1.0]])
    assert representations.direct_similarity(a, b) == pytest.approx((0.6 - 1.0 + 0.0) / 3)
    assert representations.direct_similarity(a[:2], a[:2]) == pytest.approx(1.0)


def test_dissimilarities_by_hand() -> None:
    vectors = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0], [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(representations.dissimilarities(vectors), [0, 2, 1, 2, 1, 1], atol=1e-12)


@FAST
@given(seeds, st.integers(3, 9), st.integers(2, 6), st.integers(2, 6))
def test_geometries_are_compared_as_scipy_compares_them(seed: int, sentences: int, width: int, other: int) -> None:
    a, b = _random(seed, sentences, width), _random(seed + 1, sentences, other)
    pairs = list(combinations(range(sentences), 2))
    rdms = [[1 - stats.pearsonr(x[i], x[j]).statistic if x.shape[1] > 2 else None for i, j in pairs] for x in (a, b)]
    found = [representations.dissimilarities(x) for x in (a, b)]
    for brute, own in zip(rdms, found, strict=True):
        if brute[0] is not None:
            np.testing.assert_allclose(own, np.array(brute, float), atol=1e-9)
    wanted = stats.spearmanr(*found).statistic
    if not math.isnan(wanted):
        assert representations.same_geometry(*found) == pytest.approx(wanted, abs=1e-9)


@FAST
@given(seeds, st.floats(0.1, 10), st.floats(-5, 5))
def test_geometry_knows_no_scale_no_shift_and_no_order_of_features(seed: int, scale: float, shift: float) -> None:
    vectors, order = _random(seed, 8, 5), np.random.default_rng(seed).permutation(5)
    first, other = (representations.dissimilarities(x) for x in (vectors, scale * vectors[:, order] + shift))
    assert representations.same_geometry(first, other) == pytest.approx(1.0)
    assert representations.direct_similarity(vectors, scale * vectors) == pytest.approx(1.0)


# Transfer


def test_contests_by_hand() -> None:
    scores = np.array([[100.0, 100.0, 0.0, 100.0], [100.0, 0.0, 100.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(
        transfer.win_shares(scores), [[0, 0.5, 0.75], [0.25, 0, 0.5], [0, 0, 0]]
    )  # ties beat nobody
    np.testing.assert_allclose(transfer.win_ratios(scores)[0], [1, 2.5 / 1.5, 3.5 / 0.5])


@FAST
@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=6))
def test_consistent_ratios_give_back_their_weights(weights: list[float]) -> None:
    a = np.array(weights)
    np.testing.assert_allclose(transfer.principal_eigenvector(a[:, None] / a[None, :]), a / a.sum(), rtol=1e-6)


@FAST
@given(seeds, st.integers(2, 6))
def test_the_eigenvector_is_where_repeated_products_lead(seed: int, sources: int) -> None:
    upper = np.exp(_random(seed, sources, sources))
    ratios = np.where(np.tri(sources, k=-1) > 0, 1 / upper.T, upper)
    np.fill_diagonal(ratios, 1.0)
    vector = np.ones(sources)
    for _ in range(500):
        vector = ratios @ vector
        vector /= vector.sum()
    np.testing.assert_allclose(transfer.principal_eigenvector(ratios), vector, atol=1e-9)


def test_saatys_matrix() -> None:
    ratios = np.array([[1, 3, 5], [1 / 3, 1, 3], [1 / 5, 1 / 3, 1]])
    np.testing.assert_allclose(transfer.principal_eigenvector(ratios), [0.637, 0.258, 0.105], atol=5e-4)
    for wrong in (np.array([[1.0, 0.0], [2.0, 1.0]]), np.ones((2, 3)), np.array([[1.0, np.inf], [0.1, 1.0]])):
        with pytest.raises(ValueError, match="square matrix of positive numbers"):
            transfer.principal_eigenvector(wrong)


@FAST
@given(seeds, st.integers(2, 5))
def test_who_wins_more_has_more_affinity_and_names_do_not_matter(seed: int, sources: int) -> None:
    rng = np.random.default_rng(seed)
    quality = 100.0 * (rng.random((sources, 200)) < np.linspace(0.2, 0.9, sources)[:, None])
    names = [f"t{number}" for number in range(sources)]
    found = transfer.affinities(dict(zip(names, quality, strict=True)))
    assert sum(found.values()) == pytest.approx(1.0)
    if sources == 2:
        assert found["t1"] > found["t0"]
    turned = transfer.affinities({name: quality[int(name[1:])] for name in reversed(names)})
    assert {name: pytest.approx(value) for name, value in turned.items()} == found


def test_a_source_that_never_loses_has_a_finite_affinity() -> None:
    found = transfer.affinities({"good": np.full(10, 100.0), "bad": np.zeros(10)})
    assert found["good"] == pytest.approx(21 / 22)  # 10.5 wins to 0.5
    same = transfer.affinities({"a": np.ones(5), "b": np.ones(5), "c": np.ones(5)})
    assert list(same.values()) == pytest.approx([1 / 3] * 3)


def test_pseudo_values_of_a_mean_are_its_examples() -> None:
    hits = np.array([100.0, 0.0, 100.0, 100.0, 0.0])
    without = np.array([np.delete(hits, place).mean() for place in range(5)])
    np.testing.assert_allclose(transfer.example_scores(hits.mean(), without), hits)


def test_affinities_of_both_directions_are_averaged() -> None:
    to = {"a": {"b": 0.6, "c": 0.4}, "b": {"a": 0.2, "c": 0.8}, "c": {"a": 1.0}}
    found = transfer.mutual(to, [("a", "b"), ("a", "c"), ("b", "c")])
    assert found == {("a", "b"): pytest.approx(0.4), ("a", "c"): pytest.approx(0.7)}  # c was never started from b


# Brain data


@FAST
@given(seeds, st.integers(4, 9), st.integers(1, 12), st.sampled_from([1e-2, 1.0, 50.0]))
def test_ridge_is_the_solution_of_the_normal_equations(seed: int, count: int, width: int, penalty: float) -> None:
    x, y, new = _random(seed, count, width), _random(seed + 1, count, 3), _random(seed + 2, 2, width)
    scaled, seen = (x - x.mean(0)) / x.std(0), (new - x.mean(0)) / x.std(0)
    by = penalty * (scaled**2).sum() / count
    weights = np.linalg.solve(scaled.T @ scaled + by * np.eye(width), scaled.T @ (y - y.mean(0)))
    np.testing.assert_allclose(brain.ridge(x, y, new, penalty), y.mean(0) + seen @ weights, atol=1e-7)


@FAST
@given(seeds, st.integers(4, 8), st.integers(1, 6))
def test_leave_one_out_errors_are_those_of_leaving_one_out(seed: int, count: int, width: int) -> None:
    x, y, penalty = _random(seed, count, width), _random(seed + 1, count, 2), 0.3
    scaled = (x - x.mean(0)) / x.std(0)
    by = penalty * (scaled**2).sum() / count
    brute = np.zeros_like(y)
    for place in range(count):
        rest = np.delete(np.arange(count), place)
        centre, mean = scaled[rest].mean(0), y[rest].mean(0)
        known = scaled[rest] - centre
        weights = np.linalg.solve(known.T @ known + by * np.eye(width), known.T @ (y[rest] - mean))
        brute[place] = (y[place] - mean - (scaled[place] - centre) @ weights) ** 2
    np.testing.assert_allclose(brain.leave_one_out_errors(x, y, penalty), brute, rtol=1e-6, atol=1e-9)


def test_voxels_that_vectors_explain_are_told_from_noise() -> None:
    x = _random(1, 120, 8)
    y = np.concatenate([x @ _random(2, 8, 20) + 0.3 * _random(3, 120, 20), _random(4, 120, 30)], axis=1)
    found = brain.prediction_correlations(x, y, folds=5, seed=1)
    assert found[:20].min() > 0.9 and abs(found[20:].mean()) < 0.1
    assert brain.most_informative(np.stack([found, found]), 20).tolist() == list(range(20))
    assert np.array_equal(found, brain.prediction_correlations(x, y, folds=5, seed=1))


@FAST
@given(seeds, st.floats(0.5, 20), st.floats(-9, 9))
def test_units_of_features_and_voxels_do_not_matter(seed: int, scale: float, shift: float) -> None:
    x, y = _random(seed, 18, 4), _random(seed + 1, 18, 3)
    wide = np.concatenate([scale * x + shift, np.full((18, 1), 7.0)], axis=1)  # a constant feature says nothing
    same = brain.prediction_correlations(wide, scale * y - shift, folds=3, seed=2)
    np.testing.assert_allclose(same, brain.prediction_correlations(x, y, folds=3, seed=2), atol=1e-5)


def test_more_voxels_than_one_block_are_all_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = _random(1, 12, 3), _random(2, 12, 7)
    whole = brain.prediction_correlations(x, y, folds=3, seed=1)
    monkeypatch.setattr(brain, "_BLOCK", 2)
    np.testing.assert_allclose(brain.prediction_correlations(x, y, folds=3, seed=1), whole, atol=1e-12)
    with pytest.raises(ValueError, match="8 sentences are too few for 3 parts"):
        brain.prediction_correlations(x[:8], y[:8], folds=3, seed=1)


# Against dissociation


def test_a_line_by_hand() -> None:
    line = relation.line_through(np.array([0.0, 1.0, 2.0, 3.0]), np.array([6.0, 5.0, 3.0, 2.0]))
    assert (line.slope, line.intercept) == (pytest.approx(-1.4), pytest.approx(6.1))
    assert line.r == pytest.approx(-7 / math.sqrt(50)) and line.p == pytest.approx(0.010050506, abs=1e-8)
    flat = relation.line_through(np.ones(4), np.arange(4.0))
    assert math.isnan(flat.r) and flat.p is None and flat.stored()["slope"] is None
    assert relation.line_through(np.array([1.0, 2.0]), np.array([5.0, 4.0])).p is None  # two points are always a line


@FAST
@given(seeds, st.integers(3, 12))
def test_lines_are_scipys(seed: int, count: int) -> None:
    x, y = _random(seed, count), _random(seed + 1, count)
    line, wanted = relation.line_through(x, y), stats.linregress(x, y)
    got = (line.slope, line.intercept, line.r, line.p)
    np.testing.assert_allclose(
        np.array(got, float), (wanted.slope, wanted.intercept, wanted.rvalue, wanted.pvalue), atol=1e-7
    )


def _pairs(matrix: Floats, tasks: list[str]) -> dict[tuple[str, str], float]:
    return {(a, b): float(matrix[i, j]) for (i, a), (j, b) in combinations(enumerate(tasks), 2)}


def test_names_of_tasks_are_exchanged_in_every_order() -> None:
    tasks = ["mnli", "qqp", "qnli", "ag", "sst2"]
    published = (TABLE_10 + TABLE_10.T) / 2  # mean dissociation of each pair in multi-task learning
    similar = _pairs(1 / (1 + published), tasks)  # a similarity made up to fall with it
    found = relation.mantel(similar, _pairs(published, tasks), tasks, draws=9, seed=1)
    x, y = np.array(list(similar.values())), np.array(list(_pairs(published, tasks).values()))
    real, reached = abs(np.corrcoef(x, y)[0, 1]), 0
    square = np.zeros((5, 5))
    for (i, j), value in zip(combinations(range(5), 2), x, strict=True):
        square[i, j] = square[j, i] = value
    for order in permutations(range(5)):
        moved = np.array([square[order[i], order[j]] for i, j in combinations(range(5), 2)])
        reached += abs(np.corrcoef(moved, y)[0, 1]) >= real - 1e-12
    assert found == pytest.approx(reached / 120) and found is not None and found < 0.05


def test_three_tasks_can_show_nothing_and_many_are_drawn() -> None:
    tasks = ["a", "b", "c"]
    matrix = np.array([[0, 1, 2], [1, 0, 4], [2, 4, 0.0]])
    p = relation.mantel(_pairs(matrix, tasks), _pairs(-matrix, tasks), tasks, draws=5, seed=1)
    assert p is not None and p >= 1 / 6
    assert relation.mantel(_pairs(np.ones((3, 3)), tasks), _pairs(matrix, tasks), tasks, draws=5, seed=1) is None
    many = [f"t{number}" for number in range(9)]
    random = _random(1, 9, 9)
    p = relation.mantel(_pairs(random, many), _pairs(-random, many), many, draws=199, seed=1)
    assert p == pytest.approx(1 / 200)
