"""Is a difference between two models more than chance? Paired tests, and a correction for many of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.metric import Counts, Scores

_ROUNDS_AT_ONCE = 512  # bounds the memory; part of the random stream, so a change of it changes p values
_TIE = 1e-9  # points; equal differences must count as equal however their sums were rounded


def paired_randomisation(
    a: Counts, b: Counts, main: Callable[[npt.NDArray[np.float64]], Scores], rounds: int, seed: int
) -> float:
    """Two-sided p value of approximate randomisation over sentences.

    a and b are counts [sentences, K] of two models on the same sentences; `main` turns summed counts [..., K] into the
    score [...]. In every round each sentence's counts change sides with probability one half.
    p = (1 + rounds at least as different as observed) / (1 + rounds). Sentences that the models score alike change
    nothing and are left out; where the others are so few that all their arrangements fit into the rounds, p is exact.
    """
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape or first.ndim != 2:
        raise ValueError(f"paired counts of shape {first.shape} and {second.shape}")
    total_a, total_b = first.sum(axis=0), second.sum(axis=0)
    swap = (second - first)[(first != second).any(axis=1)]  # [differing sentences, K]
    observed = abs(float(main(total_a)) - float(main(total_b)))

    def extreme(sides: npt.NDArray[np.uint8]) -> int:
        """How many of these arrangements, uint8 [rounds, differing sentences], are at least as different."""
        moved = sides.astype(np.float64) @ swap  # exact: integers far below 2^53
        different = np.abs(main(total_a + moved) - main(total_b - moved))
        return int(np.count_nonzero(different >= observed - _TIE))

    if len(swap) < 63 and 2 ** len(swap) <= rounds:
        numbers = np.arange(2 ** len(swap), dtype=np.uint64)[:, None] >> np.arange(len(swap), dtype=np.uint64)
        return extreme((numbers & 1).astype(np.uint8)) / len(numbers)
    generator = np.random.Generator(np.random.Philox(seed))
    found = 0
    for start in range(0, rounds, _ROUNDS_AT_ONCE):
        count = min(_ROUNDS_AT_ONCE, rounds - start)
        found += extreme(generator.integers(0, 2, (count, len(swap)), np.uint8))
    return (1 + found) / (1 + rounds)


def holm(ps: Sequence[float]) -> npt.NDArray[np.float64]:
    """Holm's step-down adjustment: p values that may be compared with alpha, in the given order."""
    values = np.asarray(ps, np.float64)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    return adjusted
