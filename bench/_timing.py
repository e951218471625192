"""Interleaved timing: competitors take turns in one process, so that whatever slows the machine slows all of them."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Run = Callable[[], object]


def quiet_on_one_thread() -> None:
    """No word of transformers between a benchmark's own, and one thread for all competitors."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(1)


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


def examples_per_second(loops: dict[str, Callable[[], int]], rounds: int) -> dict[str, list[float]]:
    """Examples a CPU second of training loops, which say how many they trained on, round by round.

    The first round warms up and does not count.
    """
    speeds: dict[str, list[float]] = {loop: [] for loop in loops}
    for number in range(rounds + 1):
        for loop, run in loops.items():
            started = time.process_time()
            done = run()
            if number:
                speeds[loop].append(done / (time.process_time() - started))
    return speeds


def print_speeds(speeds: dict[str, list[float]], peer: str, what: str, target: float) -> None:
    """Median, least and most of each loop, and how many times as fast as its peer ours is."""
    for loop, found in speeds.items():
        print(f"  {loop:8} {statistics.median(found):8.0f} {what}/CPU s  (min {min(found):.0f}, max {max(found):.0f})")
    ratios = [ours / theirs for ours, theirs in zip(speeds["mtlspec"], speeds[peer], strict=True)]
    least, most = min(ratios), max(ratios)
    print(f"  ratio    {statistics.median(ratios):8.2f}x (min {least:.2f}, max {most:.2f}; target {target:g})")


def _seconds(run: Run, repeats: int) -> float:
    """CPU seconds of one call."""
    started = time.process_time()
    for _ in range(repeats):
        run()
    return max((time.process_time() - started) / repeats, 1e-9)
