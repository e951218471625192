"""Interleaved timing: competitors take turns in one process, so that whatever slows the machine slows all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Run = Callable[[], object]


@dataclass(frozen=True)
class Timed:
    """Median milliseconds of one call of ours, and how many times longer each peer takes."""

    milliseconds: float
    ratios: dict[str, float]


def interleaved(ours: Run, peers: dict[str, Run], rounds: int = 7, least: float = 0.05) -> Timed:
    """CPU time in interleaved rounds; a ratio is the median over rounds of the peer's time by ours in that round.

    Each competitor repeats its call within a round for at least about `least` seconds. The first calls, which compile
    or load, do not count.
    """
    runs = {"ours": ours, **peers}
    for run in runs.values():
        run()
    repeats = {name: max(1, round(least / _seconds(run, 1))) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(_seconds(run, repeats[name]))
    ratios = {
        name: statistics.median(theirs / mine for theirs, mine in zip(times[name], times["ours"], strict=True))
        for name in peers
    }
    return Timed(1000 * statistics.median(times["ours"]), ratios)


def _seconds(run: Run, repeats: int) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    for _ in range(repeats):
        run()
    return max((time.process_time() - started) / repeats, 1e-9)
