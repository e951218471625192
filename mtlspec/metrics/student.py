"""Student's distribution in plain arithmetic: `mtlspec plan` asks it too, and must not wait for scipy."""

from __future__ import annotations

import math
from functools import lru_cache

_STEPS = 400  # of Simpson's rule; the power is then right to 1e-6 from two degrees of freedom, to 1e-3 below
_REACH = 9.0  # standard deviations beyond which nothing is integrated


def t_tail(t: float, df: float) -> float:
    """P(|T| >= |t|), the two-sided p value, for any real number of degrees of freedom."""
    if math.isinf(df):
        return math.erfc(abs(t) / math.sqrt(2))
    square = t * t
    if square < df:  # df / (df + t²) would round to one, and take small values of t with it
        return 1 - _incomplete_beta(0.5, df / 2, square / (df + square))
    return _incomplete_beta(df / 2, 0.5, df / (df + square))


@lru_cache(maxsize=4096)
def t_quantile(share: float, df: float) -> float:
    """The value below which a share (above one half) of the distribution lies."""
    if not 0.5 < share < 1:
        raise ValueError(f"a share of {share} is not between one half and one")
    tail, low, high = 2 * (1 - share), 0.0, 1.0
    while t_tail(high, df) > tail:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_tail(middle, df) > tail else (low, middle)
    return (low + high) / 2


def power(shift: float, df: float, alpha: float = 0.05) -> float:
    """How often a two-sided test at `alpha` finds a difference of `shift` standard errors."""
    critical = t_quantile(1 - alpha / 2, df)
    if math.isinf(df):
        return _normal(shift - critical) + _normal(-shift - critical)
    spread = _REACH / math.sqrt(2 * df)
    low, high = max(1 - spread, 0.0), 1 + spread
    width, total = (high - low) / _STEPS, 0.0
    for step in range(_STEPS + 1):
        scale = low + step * width  # the estimated standard error, in units of the true one
        weight = 1 if step in (0, _STEPS) else (4 if step % 2 else 2)
        found = _normal(shift - critical * scale) + _normal(-shift - critical * scale)
        total += weight * _chi_density(scale, df) * found
    return total * width / 3


@lru_cache(maxsize=4096)
def detectable_shift(df: float, alpha: float = 0.05, wanted: float = 0.8) -> float:
    """The difference, in standard errors, that is found as often as wanted."""
    low, high = 0.0, 1.0
    while power(high, df, alpha) < wanted:
        low, high = high, 2 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle, df, alpha) < wanted else (low, middle)
    return (low + high) / 2


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _chi_density(scale: float, df: float) -> float:
    """Density of sqrt(chi-squared / df)."""
    if scale <= 0:
        return math.sqrt(2 / math.pi) if df == 1 else 0.0
    log = (1 - df / 2) * math.log(2) - math.lgamma(df / 2) + df / 2 * math.log(df)
    return math.exp(log + (df - 1) * math.log(scale) - df * scale * scale / 2)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _incomplete_beta(b, a, 1 - x)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 300):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + factor * d)
            c = 1 + factor / c
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return math.exp(log) * value / a
