"""Simulated experiments: two configurations, their seeds, and what each run makes of every test sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.correlation import Correlation
from mtlspec.metrics.entities import EntityF1
from mtlspec.metrics.metric import Metric

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """How runs and sentences scatter. Both configurations are drawn alike, so that any difference found is false.

    `seeds` is the standard deviation between the runs of each configuration, `sentences` that of what suits one
    configuration and not the other; both as shares of words (or phrases) that are right. `common`: seeds that both
    sides have in common move both alike. `collapse`: the share of runs that fail.
    """

    seeds: tuple[float, float] = (0.01, 0.01)
    sentences: float = 0.1
    common: float = 0.0
    collapse: float = 0.0
    examples: int = 200
    shift: float = 0.0  # by which the first configuration is really better; 0: a null

    def chances(self, rng: np.random.Generator, times: int, runs: tuple[int, int]) -> tuple[Floats, Floats]:
        """The chance that a word of a sentence is right: [times, runs, examples] of each side."""
        hard = rng.normal(0, 0.1, (times, 1, self.examples))
        shared = rng.normal(size=(times, max(runs)))
        made = []
        for side, number in enumerate(runs):
            own = rng.normal(size=(times, number))
            luck = np.sqrt(self.common) * shared[:, :number] + np.sqrt(1 - self.common) * own
            luck = self.seeds[side] * luck - 0.15 * (rng.random((times, number)) < self.collapse)
            suited = rng.normal(0, self.sentences, (times, 1, self.examples))
            mean = 0.75 + (self.shift if side == 0 else 0.0)
            made.append(np.clip(mean + hard + suited + luck[..., None], 0.02, 0.98))
        return made[0], made[1]


def _accuracy(rng: np.random.Generator, chances: Floats, sentences: Mapping[str, Floats]) -> Floats:
    words = np.broadcast_to(sentences["words"], chances.shape).astype(np.int64)
    return np.stack([rng.binomial(words, chances), words], axis=-1)


def _f1(rng: np.random.Generator, chances: Floats, sentences: Mapping[str, Floats]) -> Floats:
    gold = np.broadcast_to(sentences["phrases"], chances.shape).astype(np.int64)
    correct = rng.binomial(gold, chances)
    return np.stack([correct, correct + rng.poisson(0.6 * (1 - chances)), gold], axis=-1)


def _correlation(rng: np.random.Generator, chances: Floats, sentences: Mapping[str, Floats]) -> Floats:
    """A sentence is predicted the further off, the smaller its chance."""
    gold = np.broadcast_to(sentences["gold"], chances.shape)
    return np.stack([gold, gold + 3 * (1 - chances) * rng.normal(size=chances.shape)], axis=-1)


Maker = Callable[[np.random.Generator, Floats, Mapping[str, Floats]], Floats]
METRICS: dict[str, tuple[Metric, Maker]] = {
    "accuracy": (TagAccuracy(), _accuracy),
    "F1": (EntityF1(), _f1),
    "Pearson": (Correlation("pearson"), _correlation),
    "Spearman": (Correlation("spearman"), _correlation),
}


def simulate(world: World, metric: str, runs: tuple[int, int], times: int, seed: int) -> tuple[Floats, Floats]:
    """Rows of a metric: [times, runs, examples, K] of each side."""
    rng = np.random.default_rng(seed)
    shape = (times, 1, world.examples)
    sentences = {
        "words": rng.integers(5, 26, shape).astype(np.float64),
        "phrases": rng.poisson(1.5, shape).astype(np.float64),
        "gold": rng.normal(size=shape),
    }
    make = METRICS[metric][1]
    a, b = (make(rng, chances, sentences) for chances in world.chances(rng, times, runs))
    return a, b
