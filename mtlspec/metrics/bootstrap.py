"""The paired bootstrap: is the mean of paired differences more than the luck of who was drawn?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_AT_ONCE = 1 << 20  # numbers; bounds the memory, and changes no draw


class Resampled(NamedTuple):
    """Of a mean: its two-sided p value against zero, standard error and interval of percentiles."""

    p: float
    error: float
    interval: tuple[float, float]


def paired_bootstrap(differences: Sequence[float], rounds: int, seed: int, level: float = 0.05) -> Resampled:
    """Resample pairs with replacement; p is twice the share of means on the other side of zero, or on it.

    The real mean counts as one more round, so p is never 0. Raw integers are the same in every release of numpy.
    """
    values = np.asarray(differences, np.float64)
    stream, per_round = np.random.Philox(key=seed), len(values)
    step = max(_AT_ONCE // per_round, 1)
    means = np.empty(rounds)
    for start in range(0, rounds, step):
        stop = min(start + step, rounds)
        drawn = stream.random_raw((stop - start) * per_round) % np.uint64(per_round)
        means[start:stop] = values[drawn.astype(np.int64)].reshape(-1, per_round).mean(axis=1)
    sides = [1 + np.count_nonzero(means <= 0), 1 + np.count_nonzero(means >= 0)]
    low, high = np.quantile(means, [level / 2, 1 - level / 2])
    return Resampled(float(min(1.0, 2 * min(sides) / (1 + rounds))), float(means.std()), (float(low), float(high)))
