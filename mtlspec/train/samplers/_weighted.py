"""Samplers that draw one task a batch, independently, with given probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mtlspec.data.streams import philox, rng_state, set_rng_state
from mtlspec.train.sampling import Part, Sampler, TaskSizes

if TYPE_CHECKING:
    from mtlspec.train.view import View


class WeightedSampler(Sampler):
    """Draws task t with probability `probabilities(epoch)[t]`."""

    def __init__(self, sizes: TaskSizes, probabilities: Callable[[int], Sequence[float]], seed: int) -> None:
        super().__init__(sizes)
        self._probabilities = probabilities
        self._rng = philox(seed, "sampler")
        self._epoch = 0
        self._bounds = np.empty(0)

    def draw(self, view: View) -> tuple[Part, ...]:
        if view.epoch != self._epoch:
            self._bounds = np.cumsum(np.asarray(self._probabilities(view.epoch), dtype=np.float64))
            self._epoch = view.epoch
        found = int(np.searchsorted(self._bounds, self._rng.random(), side="right"))
        task = min(found, len(self._bounds) - 1)  # the sum may round to just under one
        return (Part(task, view.take(task)),)

    def state(self) -> dict[str, Any]:
        return {"rng": rng_state(self._rng)}

    def load_state(self, saved: dict[str, Any]) -> None:
        set_rng_state(self._rng, saved["rng"])
