"""Means over seeds, how far seeds scatter, and what can be said of the mean."""

from __future__ import annotations

from collections.abc import Sequence


def mean_and_std(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean, and the sample standard deviation (n - 1) where there are at least two values."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, None
    return mean, (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5


def t_interval(values: Sequence[float], alpha: float = 0.05) -> tuple[float, float] | None:
    """Student's interval of the mean, at level 1 - alpha; None with fewer than two values."""
    from scipy.stats import t

    mean, std = mean_and_std(values) if values else (0.0, None)
    if std is None:
        return None
    margin = float(t.ppf(1 - alpha / 2, len(values) - 1)) * std / len(values) ** 0.5
    return mean - margin, mean + margin
