"""Means, deviations and intervals over seeds."""

from __future__ import annotations

import pytest

from mtlspec.results.estimates import blocked_interval, mean_and_std, t_interval


def test_the_deviation_is_that_of_a_sample_and_needs_two_values() -> None:
    assert mean_and_std([1.0, 3.0]) == (2.0, pytest.approx(2**0.5))
    assert mean_and_std([4.0]) == (4.0, None)


def test_the_interval_is_that_of_the_t_distribution_and_needs_two_values() -> None:
    assert t_interval([1.0]) is None
    assert t_interval([]) is None
    assert t_interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))
    assert t_interval([1.0, 2.0, 3.0], alpha=0.1) == pytest.approx((2 - 2.919986 / 3**0.5, 2 + 2.919986 / 3**0.5))


def test_blocks_may_lie_apart_without_widening_the_interval() -> None:
    one = [1.0, 2.0, 3.0]
    assert blocked_interval([one]) == pytest.approx(t_interval(one))
    low, high = blocked_interval([one, [v + 50 for v in one], [v + 90 for v in one]]) or (0.0, 0.0)
    assert (low + high) / 2 == pytest.approx(2 + 140 / 3)
    assert high - low == pytest.approx(2 * 2.446912 / 9**0.5)  # six degrees of freedom, standard error 1/3
    assert blocked_interval([one, [4.0]]) is None
    assert blocked_interval([]) is None
    assert blocked_interval([[2.0, 2.0], [4.0, 4.0]]) == (3.0, 3.0)
