"""t-SNE of a few points: its kernel, its gradient and its maps, beside scikit-learn's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.manifold import TSNE

from mtlspec.analyses._neighbours import affinities, divergence, gradient, neighbour_map, squared_distances
from mtlspec.analyses.task_embedding_map import principal

Floats = npt.NDArray[np.float64]


def _points(seed: int, count: int, width: int = 12) -> Floats:
    return np.random.default_rng(seed).normal(size=(count, width))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(5, 15), st.floats(1.3, 3.0))
def test_kernels_have_the_perplexity(seed: int, count: int, perplexity: float) -> None:
    """Of every point's own distribution, before both directions are averaged."""
    distances = squared_distances(_points(seed, count))
    found = affinities(distances, perplexity)
    np.testing.assert_allclose(found, found.T)
    assert found.sum() == pytest.approx(1, abs=1e-9)
    nearest = (distances + np.eye(count) * 1e9).argmin(1)
    assert (found[np.arange(count), nearest] > 1 / (4 * count * count)).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 8))
def test_the_gradient_is_that_of_the_divergence(seed: int, count: int) -> None:
    wanted, places = affinities(squared_distances(_points(seed, count)), 1.5), _points(seed + 1, count, 2)
    found = gradient(wanted, places)
    for point, axis in ((0, 0), (count - 1, 1)):
        step = np.zeros_like(places)
        step[point, axis] = 1e-6
        slope = (divergence(wanted, places + step) - divergence(wanted, places - step)) / 2e-6
        assert found[point, axis] == pytest.approx(slope, rel=1e-3, abs=1e-6)


def test_clusters_stay_together_and_the_map_is_as_good_as_the_librarys() -> None:
    vectors = _points(3, 18)
    vectors[:6] += 8
    vectors[6:12] -= 8
    places = neighbour_map(vectors, principal(vectors)[0])
    distances = squared_distances(places) + np.eye(18) * 1e9
    assert ((distances.argsort(1)[:, :5] // 6) == (np.arange(18) // 6)[:, None]).all()
    np.testing.assert_array_equal(places, neighbour_map(vectors, principal(vectors)[0]))
    theirs = TSNE(perplexity=5, init="pca", method="exact", random_state=0).fit_transform(vectors)
    wanted = affinities(squared_distances(vectors), 5.0)
    assert divergence(wanted, places) < 1.1 * divergence(wanted, theirs.astype(np.float64)) + 0.01


def test_points_that_are_the_same_have_a_map() -> None:
    places = neighbour_map(np.ones((5, 3)), np.zeros((5, 2)))
    assert np.isfinite(places).all()
