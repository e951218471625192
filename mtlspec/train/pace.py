"""Pace: when resume points are written. It looks at the clock, and no result depends on what it says."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS = 30.0  # at least, between two points
SHARE = 50  # all but one of so many parts of the time belong to training
BYTES_PER_SECOND = 3_000_000  # written in the long run, at most: about 11 GB an hour


class Pace:
    """A point every so many updates and at the end of every epoch; or, with None, as often as it costs little.

    Large points are far apart: one of BERT with its optimiser (1.8 GB) comes every ten minutes, one of a small model
    every half minute. What a kill can cost is the time between two of them.
    """

    def __init__(self, every: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._every, self._clock = every, clock
        self._next = clock() + SECONDS

    def due(self, update: int, epoch_ended: bool) -> bool:
        if self._every is not None:
            return epoch_ended or update % self._every == 0
        return self._clock() >= self._next

    def write(self, point: Callable[[], int]) -> None:
        """Write a point, which says how many bytes it has, and put off the next one accordingly."""
        started = self._clock()
        size = point()
        ended = self._clock()
        self._next = ended + max(SECONDS, (ended - started) * SHARE, size / BYTES_PER_SECOND)
