"""Do two settings change tasks alike, where both changes are over the same single models?

The luck of these models is in both changes: a task that was unlucky alone gains twice, and eleven tasks that nothing
helps have a rank correlation of 0.6 on average. So each change is taken over other seeds of the single models, and the
p value knows two ways of being nothing: luck alone, and changes that have nothing to do with each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mtlspec.data.streams import philox
from mtlspec.results.contrast import share_reaching

Numbers = npt.NDArray[np.float64]
LEAST = 4  # tasks: fewer have no correlation worth a name


@dataclass(frozen=True)
class Changed:
    """Of T tasks: scores alone [T, S], means of the two settings [T] and the standard deviation of their luck [T]."""

    alone: Numbers
    first: Numbers
    second: Numbers
    luck: Numbers  # of a single run
    of_first: Numbers  # of the mean
    of_second: Numbers


@dataclass(frozen=True)
class Association:
    """Spearman's correlation, its 95 % interval over samples of tasks, and p of one that is at least as large."""

    rho: float
    interval: tuple[float, float]
    p: float | None


def association(found: Changed, draws: int, seed: int) -> Association | None:
    """None with fewer than four tasks, fewer than two seeds, or where a side does not vary."""
    tasks, seeds = found.alone.shape
    if tasks < LEAST or seeds < 2:
        return None
    rho = float(_over_seeds(found.alone, found.first, found.second, found.alone.mean(1)))
    if math.isnan(rho):
        return None
    samples = (philox(seed, "samples").bit_generator.random_raw(draws * tasks) % tasks).astype(np.intp)
    rows = samples.reshape(draws, tasks)
    sides = found.alone, found.first, found.second, found.alone.mean(1)
    sampled = _over_seeds(*(side[rows] for side in sides))
    low, high = np.nanquantile(sampled, [0.025, 0.975])  # a sample may hold one task many times
    nulls = _luck(found, draws, seed), _strangers(found, draws, seed)
    return Association(rho, (float(low), float(high)), max(share_reaching(rho, null) for null in nulls))


def _over_seeds(alone: Numbers, first: Numbers, second: Numbers, scale: Numbers) -> Numbers:
    """alone [..., T, S], the others [..., T] -> [...]: the mean over seeds of the rank correlation of what the first
    setting changes of that seed's single models, and the second of the others', in shares of `scale`."""
    seeds, total = alone.shape[-1], alone.sum(-1)
    found = [
        rank_correlation(
            (first - alone[..., seed]) / scale, (second - (total - alone[..., seed]) / (seeds - 1)) / scale
        )
        for seed in range(seeds)
    ]
    return np.asarray(sum(found) / seeds, np.float64)


def rank_correlation(x: Numbers, y: Numbers) -> Numbers:
    """Spearman's over the last axis; NaN where a side is constant."""
    from scipy.stats import rankdata

    middle = (x.shape[-1] + 1) / 2
    a, b = (np.asarray(rankdata(side, axis=-1), np.float64) - middle for side in (x, y))
    scale = np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    return np.asarray((a * b).sum(-1) / np.where(scale > 0, scale, np.nan), np.float64)


def _luck(found: Changed, draws: int, seed: int) -> Numbers:
    """Correlations where no setting changes anything: all scores are those alone, and scatter as they do."""
    tasks, seeds = found.alone.shape
    middle = found.alone.mean(1)
    alone, first, second = (
        middle[:, None] + _normal(seed, name, (draws, tasks, count)) * scatter[:, None]
        for name, count, scatter in (
            ("alone", seeds, found.luck),
            ("first", 1, found.of_first),
            ("second", 1, found.of_second),
        )
    )
    return _known(_over_seeds(alone, first[..., 0], second[..., 0], middle))


def _strangers(found: Changed, draws: int, seed: int) -> Numbers:
    """Correlations where the changes of the second setting belong to other tasks: in random orders."""
    tasks, seeds = found.alone.shape
    raw = philox(seed, "orders").bit_generator.random_raw(draws * tasks).reshape(draws, tasks)
    order, total = np.argsort(raw, axis=1, kind="stable"), found.alone.sum(1)
    middle = total / seeds
    drawn = []
    for one in range(seeds):
        own = (found.first - found.alone[:, one]) / middle
        other = (found.second - (total - found.alone[:, one]) / (seeds - 1)) / middle
        drawn.append(rank_correlation(np.broadcast_to(own, order.shape), other[order]))
    return _known(np.asarray(sum(drawn) / seeds, np.float64))


def _known(drawn: Numbers) -> Numbers:
    return np.asarray(drawn[~np.isnan(drawn)], np.float64)


def _normal(seed: int, name: str, shape: tuple[int, ...]) -> Numbers:
    """Made of raw bits, which are the same in every release of numpy."""
    from scipy.special import ndtri

    raw = philox(seed, f"luck/{name}").bit_generator.random_raw(math.prod(shape))
    return np.asarray(ndtri((raw.astype(np.float64) + 0.5) / 2.0**64), np.float64).reshape(shape)
