"""Sets of heads against random sets of the same shape."""

from __future__ import annotations

import numpy as np
import pytest

from mtlspec.results.contrast import Contrast, contrast, same_counts, share_reaching

_SHAPE = (4, 8)


def _first(per_layer: int) -> np.ndarray:
    chosen = np.zeros(_SHAPE, np.bool_)
    chosen[:, :per_layer] = True
    return chosen


def _mean_of(values: np.ndarray):
    return lambda heads: float(values[heads].mean())


def _asked(values: np.ndarray, chosen: np.ndarray, **options) -> Contrast:
    return contrast(_mean_of(values), chosen, same_counts(chosen), draws=199, seed=1, **options)


def test_random_sets_keep_their_counts_and_stay_within_what_is_there() -> None:
    chosen, there = _first(2), np.ones(_SHAPE, np.bool_)
    chosen[0] = False
    there[1, 4:] = False
    drawn = same_counts(chosen, there)(300, 7)
    assert (drawn.sum(-1) == chosen.sum(-1)).all()
    assert not drawn[:, ~there].any()
    assert drawn[:, 1, :4].mean(0) == pytest.approx(np.full(4, 0.5), abs=0.1)
    assert drawn[:, 2].mean(0) == pytest.approx(np.full(8, 0.25), abs=0.1)
    np.testing.assert_array_equal(drawn, same_counts(chosen, there)(300, 7))
    with pytest.raises(ValueError, match="more chosen heads"):
        same_counts(_first(5), there)


def test_random_sets_are_supported_in_at_most_five_percent_of_draws() -> None:
    values = np.random.default_rng(0).normal(9.5, 3, _SHAPE)  # training raises all heads
    sets = same_counts(_first(3))(1000, 11)
    verdicts = [
        contrast(_mean_of(values), chosen, same_counts(chosen), draws=59, seed=seed).verdict
        for seed, chosen in enumerate(sets)
    ]
    assert verdicts.count("supported") <= 50
    assert verdicts.count("contradicted") <= 50


def test_a_planted_effect_is_found_and_its_opposite_contradicted() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chosen = same_counts(_first(3))(1, seed)[0]
        values = rng.normal(5, 2, _SHAPE) + 3 * chosen
        found = _asked(values, chosen)
        assert found.verdict == "supported"
        assert found.interval[0] <= found.mean <= found.interval[1] < found.observed
        assert _asked(values, chosen, larger=False).verdict == "contradicted"
        assert _asked(-values, chosen, larger=False).verdict == "supported"


def test_a_set_that_is_all_there_is_says_nothing() -> None:
    found = _asked(np.ones(_SHAPE), np.ones(_SHAPE, np.bool_))
    assert (found.p, found.p_opposite, found.verdict) == (1.0, 1.0, "open")
    undefined = _asked(np.full(_SHAPE, np.nan), _first(2))
    assert undefined.verdict == "open"


def test_p_counts_the_real_set_among_the_draws() -> None:
    assert share_reaching(2.0, np.array([1.0, 2.0, 3.0])) == pytest.approx(3 / 4)
    assert share_reaching(9.0, np.zeros(99)) == pytest.approx(0.01)
