"""The best head for each label, chosen on one split and scored on another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mtlspec.analyses._probes.hits import Accuracies

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SCORED = "test"


@dataclass(frozen=True)
class Best:
    """Of one subject and task; all arrays are [labels]."""

    names: tuple[str, ...]
    score: Floats  # in percent, of the chosen head on test
    layer: Ints
    head: Ints
    shuffled: Floats | None  # the same with shuffled labels, if what heads say depends on labels at all
    counts: Ints  # items in test
    least: Ints  # items in the split that has fewer

    def shown(self, least: int) -> list[int]:
        """Labels with enough items, the most frequent first."""
        order = sorted(range(len(self.names)), key=lambda i: (-self.counts[i], self.names[i]))
        return [i for i in order if self.least[i] >= least]


def best_heads(found: Accuracies, choosing: str) -> Best:
    """The head with the highest accuracy on `choosing`, the lowest of equals."""
    score, place = _choose(found.values[choosing, "gold"], found.values[SCORED, "gold"])
    shuffled = None
    if (choosing, "shuffled") in found.values:
        shuffled, _ = _choose(found.values[choosing, "shuffled"], found.values[SCORED, "shuffled"])
    heads = found.values[choosing, "gold"].shape[2]
    least = np.minimum(found.counts[choosing], found.counts[SCORED])
    return Best(found.names, score, place // heads, place % heads, shuffled, found.counts[SCORED], least)


def best_of_layers(found: Accuracies, choosing: str) -> Floats:
    """The score of the best head of each layer: [labels, layers]."""
    chosen, scored = found.values[choosing, "gold"], found.values[SCORED, "gold"]
    place = np.nan_to_num(chosen, nan=-1.0).argmax(2)
    return np.take_along_axis(scored, place[:, :, None], 2)[:, :, 0]


def _choose(chosen: Floats, scored: Floats) -> tuple[Floats, Ints]:
    """[labels, layers, heads] twice -> score [labels] and the flat number of the head [labels]."""
    labels = chosen.shape[0]
    place = np.nan_to_num(chosen.reshape(labels, -1), nan=-1.0).argmax(1)
    return scored.reshape(labels, -1)[np.arange(labels), place], place.astype(np.int64)
