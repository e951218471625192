"""Sets of heads, bool [L, H]: the most important ones, and how sets of several tasks lie to each other."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mtlspec.errors import StageError

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_ROUNDING = 1e-9  # 0.29 * 100 is a little less than 29


def head_count(alpha: float, heads: int) -> int:
    """The whole number of heads in a share of them, rounded down; an error if that is none."""
    count = math.floor(alpha * heads + _ROUNDING)
    if count < 1:
        message = f"alpha is {alpha:g}, and of {heads} heads that is not one"
        raise StageError("E950", message, hint=f"alpha must be at least {1 / heads:.3g} for this encoder")
    return count


def top_heads(importance: Floats, count: int) -> Mask:
    """The `count` most important heads of [L, H], over all layers; NaN where there is no head.

    Of equally important heads, those of lower layers come first.
    """
    if np.count_nonzero(~np.isnan(importance)) < count:
        raise ValueError(f"there are no {count} heads to choose from")
    order = np.argsort(-np.where(np.isnan(importance), -np.inf, importance), axis=None, kind="stable")
    chosen = np.zeros(importance.size, np.bool_)
    chosen[order[:count]] = True
    return chosen.reshape(importance.shape)


def overlaps(sets: Mask) -> Floats:
    """Percent of the heads of set a that set b has, too: [..., T, L, H] -> [..., T, T]; 100 on the diagonal."""
    flat = sets.reshape(*sets.shape[:-2], -1).astype(np.float64)
    return np.asarray(100 * flat @ np.swapaxes(flat, -1, -2) / flat.sum(-1)[..., None])


def chance_overlaps(sets: Mask, counts: npt.NDArray[np.int64]) -> Floats:
    """What to expect of random sets with as many heads in every layer: [..., T, T]; `counts` are a layer's heads."""
    by_layer = heads_per_layer(sets).astype(np.float64)
    met = by_layer / np.maximum(counts, 1) @ np.swapaxes(by_layer, -1, -2)
    return np.asarray(100 * met / by_layer.sum(-1)[..., None])


def heads_per_layer(sets: Mask) -> npt.NDArray[np.int64]:
    """[..., L, H] -> [..., L]"""
    return np.asarray(sets.sum(-1), np.int64)


def spread_by_layer(by_layer: Floats) -> Floats:
    """How far tasks differ in a layer: standard deviation over them, [T, L] -> [L]."""
    return np.asarray(by_layer.std(axis=0))
