"""Chance, stable for ever: only `Random.random()` is used, whose stream no Python release may change."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")
_HELD_OUT = 9  # every ninth word of a long list is kept for dev and test


class Dice:
    """The decisions of one split; `training` hides the words that only dev and test may use."""

    def __init__(self, seed: int, split: str) -> None:
        digest = hashlib.sha256(f"{seed}/{split}".encode()).digest()
        self._random = Random(int.from_bytes(digest[:8], "big")).random  # noqa: S311  # nothing secret here
        self._training = split == "train"

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def number(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def one(self, items: Sequence[T]) -> T:
        return items[int(self._random() * len(items))]

    def word(self, items: Sequence[T]) -> T:
        """One of a list of words: those in front are more frequent, some are held out of training."""
        index = int(self._random() ** 1.6 * len(items))
        while self._training and index % _HELD_OUT == _HELD_OUT - 1:
            index = int(self._random() ** 1.6 * len(items))
        return items[index]

    def weighted(self, items: Sequence[tuple[T, float]]) -> T:
        """One of (item, weight) pairs."""
        left = self._random() * sum(weight for _, weight in items)
        for item, weight in items:
            left -= weight
            if left < 0:
                return item
        return items[-1][0]
