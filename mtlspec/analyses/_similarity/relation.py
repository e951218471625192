"""Do tasks that are more alike dissociate less? A line through pairs of tasks, and two tests of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from mtlspec.analyses._agreement import pearson
from mtlspec.analyses._similarity.representations import Floats
from mtlspec.metrics.student import t_tail
from mtlspec.results.contrast import share_reaching

Pair = tuple[str, str]
_ALL_ORDERS = 7  # tasks: up to so many, every order of them is tried
_TIE = 1e-12


@dataclass(frozen=True)
class Line:
    """y = intercept + slope x, by least squares; `r` is Pearson's correlation and `p` that of its t test.

    NaN, and no p, where one side does not vary. A test needs three points.
    """

    r: float
    p: float | None
    slope: float
    intercept: float

    def stored(self) -> dict[str, Any]:
        return {name: None if value is None or math.isnan(value) else value for name, value in vars(self).items()}


def line_through(x: Floats, y: Floats) -> Line:
    """Of points [N]."""
    r = pearson(x, y)
    if math.isnan(r):
        return Line(r, None, float("nan"), float("nan"))
    away = x - x.mean()
    slope = float(away @ (y - y.mean()) / (away @ away))
    return Line(r, correlation_p(r, len(x)), slope, float(y.mean() - slope * x.mean()))


def correlation_p(r: float, count: int) -> float | None:
    """Two-sided, as if the points were independent of each other."""
    if count < 3:
        return None
    rest = 1 - r * r
    return t_tail(r * math.sqrt((count - 2) / rest), count - 2) if rest > _TIE else 0.0


def mantel(
    x: Mapping[Pair, float], y: Mapping[Pair, float], tasks: Sequence[str], draws: int, seed: int
) -> float | None:
    """How often the correlation is as far from zero when tasks exchange their names on one side: two-sided p.

    Pairs that have a task in common are not independent, so this is the test that counts. Both sides must have every
    pair of the tasks. All orders of up to seven tasks are tried, `draws` random ones of more. None where one side
    does not vary.
    """
    places = [(a, b) for a in range(len(tasks)) for b in range(a)]
    first, second = _square(x, tasks), _square(y, tasks)
    index = tuple(np.array(places).T)
    fixed = second[index]
    observed = pearson(first[index], fixed)
    if math.isnan(observed):
        return None
    null = [pearson(first[np.ix_(order, order)][index], fixed) for order in _orders(len(tasks), draws, seed)]
    return share_reaching(abs(observed), np.abs(np.array(null)))


def _square(values: Mapping[Pair, float], tasks: Sequence[str]) -> Floats:
    found = np.zeros((len(tasks), len(tasks)))
    for (a, b), value in values.items():
        i, j = tasks.index(a), tasks.index(b)
        found[i, j] = found[j, i] = value
    return found


def _orders(count: int, draws: int, seed: int) -> Sequence[Sequence[int]]:
    """Orders other than the one that is given."""
    if count <= _ALL_ORDERS:
        return list(permutations(range(count)))[1:]
    keys = np.random.Philox(key=seed).random_raw(draws * count).reshape(draws, count)
    return [order.tolist() for order in np.argsort(keys, axis=1, kind="stable")]
