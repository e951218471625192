"""Dissociation: does a task suffer more without its own important heads than without those of other tasks?

Scores and everything that is made of them are in percent. `masked[..., i, j]` is the score on task j without the heads
of task i, `base[..., j]` that of the whole model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mtlspec.results.inference import Difference

Floats = npt.NDArray[np.float64]
DISTINCT = 10.0  # percent: from here on a dissociation counts as distinct

Verdict = Literal["distinct double dissociation", "double dissociation", "single dissociation", "negative", "none"]
"""`negative`: every task suffers more from losing the others' heads, so the estimate of importance is wrong."""


def relative_performance(masked: Floats, base: Floats) -> Floats:
    """What is left of each score: [..., T, T]; no number where the whole model has no score above zero."""
    whole = np.where(base > 0, base, np.nan)[..., None, :]
    return np.asarray(100 * masked / whole)


@dataclass(frozen=True)
class Dissociation:
    """How many points of its score a task keeps longer without others' heads than without its own."""

    pairs: Floats  # [..., T, T]: of task a against the heads of task b; zero on the diagonal

    @classmethod
    def of(cls, masked: Floats, base: Floats) -> Dissociation:
        left = np.swapaxes(relative_performance(masked, base), -1, -2)  # [..., a, b]: of a without the heads of b
        own = np.diagonal(left, axis1=-2, axis2=-1)[..., None]
        return cls(left - own)

    @property
    def by_task(self) -> Floats:
        """[..., T]: the mean over the other tasks."""
        return np.asarray(self.pairs.sum(-1) / (self.pairs.shape[-1] - 1))

    @property
    def average(self) -> Floats:
        """[...]: the mean over tasks."""
        return np.asarray(self.by_task.mean(-1))


def verdict(by_task: Sequence[float]) -> Verdict:
    """Of the dissociation of every task of one model."""
    if len(by_task) < 2 or not all(map(math.isfinite, by_task)):
        raise ValueError("a dissociation is one of two tasks at least, each with a score")
    mean = sum(by_task) / len(by_task)
    return next((name for name in _STRONGEST_FIRST if _holds(name, by_task, by_task, mean)), "none")


_STRONGEST_FIRST: tuple[Verdict, ...] = (
    "distinct double dissociation",
    "double dissociation",
    "single dissociation",
    "negative",
)


def _holds(name: Verdict, lows: Sequence[float], highs: Sequence[float], mean_low: float) -> bool:
    """Whether a verdict is right wherever between its low and its high each task's dissociation lies."""
    if name == "distinct double dissociation":
        return min(lows) > 0 and mean_low >= DISTINCT
    if name == "double dissociation":
        return min(lows) > 0
    if name == "single dissociation":
        return max(lows) > DISTINCT and min(highs) < 0
    if name == "negative":
        return max(highs) < 0
    return max(highs) < DISTINCT


@dataclass(frozen=True)
class Judged:
    """A verdict by means over seeds, and whether intervals show it, too."""

    verdict: Verdict
    shown: bool


def judge(by_task: Sequence[Difference], average: Difference) -> Judged:
    """`by_task` are the tasks' dissociations as differences from zero, `average` is their mean.

    A verdict is shown if it would be the same wherever in their intervals these lie. That there is none is shown if no
    task's dissociation can be distinct.
    """
    found = verdict([one.difference for one in by_task])
    bounds = [one.interval for one in by_task if one.interval is not None]
    if len(bounds) < len(by_task) or average.interval is None:
        return Judged(found, shown=False)
    lows, highs = ([bound[side] for bound in bounds] for side in (0, 1))
    return Judged(found, shown=_holds(found, lows, highs, average.interval[0]))
