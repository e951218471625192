"""How far maps of heads agree: correlations, regression between runs, overlap of kept heads, and what chance gives.

A map is float64 [L, H]; runs of one model are stacked as [R, L, H].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from mtlspec.results.contrast import share_reaching
from mtlspec.results.kept import kept_heads

Map = npt.NDArray[np.float64]
Statistic = Callable[[Map], float]
"""Runs [R, L, H] -> how far they agree; NaN where that is not defined."""


def pearson(first: Map, second: Map) -> float:
    """NaN if one of them is constant."""
    a, b = first.ravel() - first.mean(), second.ravel() - second.mean()
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 1e-12 else float("nan")


def spearman(first: Map, second: Map) -> float:
    """Pearson's correlation of ranks; ties share their mean rank."""
    from scipy.stats import rankdata

    return pearson(np.asarray(rankdata(first.ravel()), np.float64), np.asarray(rankdata(second.ravel()), np.float64))


def adjusted_r2(runs: Map) -> float:
    """Of the linear regression of the last run on the others, over heads, with an intercept.

    NaN for a single run, for a last run that is constant, and where there are too few heads.
    """
    count, heads = len(runs), runs[0].size
    target = runs[-1].ravel()
    spread = float(((target - target.mean()) ** 2).sum())
    if count < 2 or spread < 1e-12 or heads - count <= 0:
        return float("nan")
    design = np.column_stack([np.ones(heads), *(run.ravel() for run in runs[:-1])])
    weights = np.linalg.lstsq(design, target, rcond=None)[0]
    unexplained = float(((target - design @ weights) ** 2).sum()) / spread
    return float(1 - unexplained * (heads - 1) / (heads - count))


def jaccard(first: Map, second: Map) -> float:
    """Overlap of the kept heads of two maps: intersection over union; NaN if neither keeps any."""
    a, b = kept_heads(first), kept_heads(second)
    union = int((a | b).sum())
    return int((a & b).sum()) / union if union else float("nan")


def pairwise(measure: Callable[[Map, Map], float], runs: Sequence[Map] | Map) -> float:
    """The mean over all pairs of runs; NaN if there are none or one of them is not defined."""
    found = [measure(a, b) for a, b in combinations(runs, 2)]
    return float(np.mean(found)) if found else float("nan")


def shuffled_within_layers(runs: Map, draws: int, seed: int) -> npt.NDArray[np.float64]:
    """[draws, R, L, H]: every run's heads in a random order within each layer.

    It keeps how many heads a layer uses, and forgets which. Random integers are the same in every release of numpy.
    """
    keys = np.random.Philox(key=seed).random_raw(draws * runs.size).reshape(draws, *runs.shape)
    return np.take_along_axis(np.broadcast_to(runs, keys.shape), np.argsort(keys, axis=-1, kind="stable"), axis=-1)


def chance(statistic: Statistic, runs: Map, draws: int, seed: int) -> tuple[float, float]:
    """The mean of a statistic over shuffled heads, and the share of draws (with the real one) that reach it."""
    real = statistic(runs)
    null = np.array([statistic(drawn) for drawn in shuffled_within_layers(runs, draws, seed)])
    if not np.isfinite(real) or not np.isfinite(null).all():
        return float("nan"), float("nan")
    return float(null.mean()), share_reaching(real, null)
