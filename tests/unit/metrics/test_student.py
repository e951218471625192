"""Student's distribution against scipy."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nct, norm, t

from mtlspec.metrics.student import detectable_shift, power, t_quantile, t_tail


@given(st.floats(-60, 60), st.floats(1, 1e4))
def test_tails_are_those_of_scipy(value: float, df: float) -> None:
    assert t_tail(value, df) == pytest.approx(2 * t.sf(abs(value), df), rel=1e-8, abs=1e-14)


@given(st.floats(0.51, 0.9999), st.floats(1, 1e4))
def test_quantiles_are_those_of_scipy(share: float, df: float) -> None:
    assert t_quantile(share, df) == pytest.approx(t.ppf(share, df), rel=1e-7)


@pytest.mark.parametrize("df", [2, 2.6, 4, 17.5, 900])
@pytest.mark.parametrize("alpha", [0.05, 0.002])
@pytest.mark.parametrize("shift", [0.0, 1.0, 4.0])
def test_the_power_is_that_of_the_noncentral_distribution(df: float, alpha: float, shift: float) -> None:
    critical = t.ppf(1 - alpha / 2, df)
    expected = (nct.sf(critical, df, shift) + nct.cdf(-critical, df, shift)) if shift else alpha
    assert power(shift, df, alpha) == pytest.approx(expected, abs=2e-6)


def test_many_degrees_of_freedom_are_the_normal_distribution() -> None:
    assert t_tail(1.96, math.inf) == pytest.approx(2 * norm.sf(1.96))
    assert t_quantile(0.975, math.inf) == pytest.approx(norm.ppf(0.975))
    assert detectable_shift(math.inf) == pytest.approx(2.801582, abs=1e-5)


def test_what_is_found_in_four_of_five_cases() -> None:
    for df in (2.0, 4.0, 11.0):
        assert power(detectable_shift(df), df) == pytest.approx(0.8, abs=1e-6)
    assert detectable_shift(4.0) == pytest.approx(3.761060, abs=1e-5)


def test_only_shares_above_one_half_have_a_quantile_here() -> None:
    with pytest.raises(ValueError, match=r"share of 0\.3"):
        t_quantile(0.3, 4)
