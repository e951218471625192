"""Means over seeds, how far seeds scatter, and what can be said of the mean."""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.metrics.student import t_quantile


def mean_and_std(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean, and the sample standard deviation (n - 1) where there are at least two values."""
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, None
    return mean, (sum((value - mean) ** 2 for value in values) / (len(values) - 1)) ** 0.5


def t_interval(values: Sequence[float], alpha: float = 0.05) -> tuple[float, float] | None:
    """Student's interval of the mean, at level 1 - alpha; None with fewer than two values."""
    mean, std = mean_and_std(values) if values else (0.0, None)
    if std is None:
        return None
    margin = t_quantile(1 - alpha / 2, len(values) - 1) * std / len(values) ** 0.5
    return mean - margin, mean + margin


def blocked_interval(blocks: Sequence[Sequence[float]], alpha: float = 0.05) -> tuple[float, float] | None:
    """Student's interval of the mean over blocks, each of which has a mean and a scatter of its own.

    What differs between blocks is no scatter. None if a block has fewer than two values, or if there are none.
    """
    if not blocks or min(map(len, blocks)) < 2:
        return None
    found = [mean_and_std(block) for block in blocks]
    parts = [((std or 0.0) / len(blocks)) ** 2 / len(block) for (_, std), block in zip(found, blocks, strict=True)]
    mean, variance = sum(one for one, _ in found) / len(found), sum(parts)
    doubt = sum(part**2 / (len(block) - 1) for part, block in zip(parts, blocks, strict=True))
    margin = t_quantile(1 - alpha / 2, variance**2 / doubt) * variance**0.5 if doubt > 0 else 0.0
    return mean - margin, mean + margin
