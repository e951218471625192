"""Verdicts with a contrast: is a set of heads special, or would any set of the same shape look like it?

A statistic of a chosen set says nothing alone: training raises what all heads know. It is compared with the same
statistic of random sets, drawn with as many members in every layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Verdict = Literal["supported", "contradicted", "open"]
_TIE = 1e-12  # sets with equal statistics must count as equal however these were rounded


@dataclass(frozen=True)
class Contrast:
    """A statistic of a set beside that of random sets; NaN, and `open`, where it is not defined for some of them."""

    observed: float
    mean: float  # over random sets
    interval: tuple[float, float]  # the middle 95 % of random sets
    p: float  # how often a random set reaches the observed value (the set itself counts as one of them)
    p_opposite: float  # and how often it reaches it from the other side
    draws: int
    verdict: Verdict

    @property
    def words(self) -> str:
        low, high = self.interval
        text = (
            f"{self.observed:.2f}; random sets {self.mean:.2f}, 95 % within {low:.2f} to {high:.2f}; p = {self.p:.3f}"
        )
        return text.replace("-", "−")

    def stored(self) -> dict[str, Any]:
        return asdict(self)


def contrast(
    statistic: Callable[[Mask], float],
    chosen: Mask,
    draw: Callable[[int, int], npt.NDArray[np.bool_]],
    *,
    draws: int,
    seed: int,
    alpha: float = 0.05,
    larger: bool = True,
) -> Contrast:
    """`draw(draws, seed)` gives random sets [draws, ...]; `larger`: whether the claim is of a large statistic.

    The claim is supported if fewer than `alpha` of all sets reach what is seen, contradicted if the other side does so.
    """
    observed = float(statistic(chosen))
    null = np.array([statistic(drawn) for drawn in draw(draws, seed)], np.float64)
    return beside_random(observed, null, alpha=alpha, larger=larger)


def beside_random(
    observed: float, null: npt.NDArray[np.float64], *, alpha: float = 0.05, larger: bool = True
) -> Contrast:
    """The same for statistics that were computed already, all random sets at once: null [draws]."""
    draws = len(null)
    if not np.isfinite(observed) or not np.isfinite(null).all():
        nothing = float("nan")
        return Contrast(observed, nothing, (nothing, nothing), nothing, nothing, draws, "open")
    p, opposite = share_reaching(observed, null), share_reaching(-observed, -null)
    if not larger:
        p, opposite = opposite, p
    verdict: Verdict = "supported" if p < alpha else ("contradicted" if opposite < alpha else "open")
    low, high = (float(value) for value in np.quantile(null, [0.025, 0.975]))
    return Contrast(observed, float(null.mean()), (low, high), p, opposite, draws, verdict)


def share_reaching(observed: float, null: npt.NDArray[np.float64]) -> float:
    """The p value of a permutation test: the share of draws, the real one among them, that are at least as large."""
    return float((1 + np.count_nonzero(null >= observed - _TIE)) / (1 + len(null)))


def same_counts(chosen: Mask, there: Mask | None = None) -> Callable[[int, int], npt.NDArray[np.bool_]]:
    """Random sets of heads [draws, L, H] with as many in every layer as `chosen` [L, H] has.

    `there` are the heads that may be drawn, where layers differ in their number. Random integers are the same in every
    release of numpy.
    """
    counts = chosen.sum(axis=1)
    if there is not None and (counts > there.sum(axis=1)).any():
        raise ValueError("a layer has more chosen heads than heads that may be drawn")

    def draw(draws: int, seed: int) -> npt.NDArray[np.bool_]:
        keys = np.random.Philox(key=seed).random_raw(draws * chosen.size).reshape(draws, *chosen.shape) >> np.uint64(1)
        if there is not None:
            keys = np.where(there, keys, np.uint64(2**64 - 1))  # those that are not there come last
        places = np.argsort(np.argsort(keys, axis=-1, kind="stable"), axis=-1, kind="stable")
        return np.asarray(places < counts[:, None])

    return draw
