"""Is a difference between two models more than chance? Paired tests, and a correction for many of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.metric import Metric, Rows

_ROUNDS_AT_ONCE = 512  # bounds the memory; part of the random stream, so a change of it changes p values
_TIE = 1e-9  # points; equal differences must count as equal however their sums were rounded


def paired_randomisation(metric: Metric, a: Rows, b: Rows, rounds: int, seed: int) -> float:
    """Two-sided p value of approximate randomisation over examples.

    a and b are a metric's rows [N, K] of two models on the same examples (`Metric.pool` makes such rows of several
    seeds). In every round each example's rows change sides with probability one half.
    p = (1 + rounds at least as different as observed) / (1 + rounds). Examples that the models score alike change
    nothing and are left out; where the others are so few that all their arrangements fit into the rounds, p is exact.
    """
    if a.shape != b.shape or a.ndim != 2:
        raise ValueError(f"paired counts of shape {a.shape} and {b.shape}")
    differing = np.flatnonzero((a != b).any(axis=1))
    movable = len(differing)
    difference = metric.exchange(a, b, differing)
    observed = abs(float(difference(np.zeros((1, movable), np.uint8))[0]))

    def extreme(sides: npt.NDArray[np.uint8]) -> int:
        """How many of these arrangements, uint8 [rounds, differing examples], are at least as different."""
        return int(np.count_nonzero(np.abs(difference(sides)) >= observed - _TIE))

    if movable < 63 and 2**movable <= rounds:
        numbers = np.arange(2**movable, dtype=np.uint64)[:, None] >> np.arange(movable, dtype=np.uint64)
        return extreme((numbers & 1).astype(np.uint8)) / len(numbers)
    generator = np.random.Generator(np.random.Philox(seed))
    found = 0
    for start in range(0, rounds, _ROUNDS_AT_ONCE):
        count = min(_ROUNDS_AT_ONCE, rounds - start)
        found += extreme(generator.integers(0, 2, (count, movable), np.uint8))
    return (1 + found) / (1 + rounds)


def holm(ps: Sequence[float]) -> npt.NDArray[np.float64]:
    """Holm's step-down adjustment: p values that may be compared with alpha, in the given order."""
    values = np.asarray(ps, np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    return adjusted
