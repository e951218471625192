"""Words for what could have been found, which differs between comparisons: runs of some tasks scatter further."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def typical(sizes: Sequence[float], digits: int = 1) -> str:
    """`1.5 points (median; from 0.4 to 6.9)`; no bracket where all are printed alike."""
    middle, low, high = (f"{size:.{digits}f}" for size in (statistics.median(sizes), min(sizes), max(sizes)))
    return f"{middle} points" if low == high else f"{middle} points (median; from {low} to {high})"
