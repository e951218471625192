"""Samplers that draw one task a batch, independently, with given probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mtlspec.train.rng import philox, rng_state, set_rng_state
from mtlspec.train.samplers._sampler import Part


class WeightedSampler:
    """Draws task t with probability `probabilities(epoch)[t]`."""

    def __init__(self, probabilities: Callable[[int], Sequence[float]], seed: int) -> None:
        self._probabilities = probabilities
        self._rng = philox(seed, "sampler")
        self._epoch = 0
        self._bounds = np.empty(0)

    def draw(self, epoch: int) -> tuple[Part, ...]:
        if epoch != self._epoch:
            self._bounds = np.cumsum(np.asarray(self._probabilities(epoch), dtype=np.float64))
            self._epoch = epoch
        task = int(np.searchsorted(self._bounds, self._rng.random(), side="right"))
        return (Part(min(task, len(self._bounds) - 1)),)  # the sum may round to just under one

    def state(self) -> dict[str, Any]:
        return {"rng": rng_state(self._rng)}

    def load_state(self, saved: dict[str, Any]) -> None:
        set_rng_state(self._rng, saved["rng"])
