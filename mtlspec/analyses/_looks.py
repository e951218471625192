"""Dev scores on the way, of all seeds of a model: at the updates that they have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mtlspec.errors import StageError
from mtlspec.results.figures import Line
from mtlspec.results.history import Look, read_curve
from mtlspec.results.variants import Variant
from mtlspec.spec.watched import hint

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Looked:
    """A model whose dev was scored on the way: of every seed as many looks, at the same updates."""

    variant: Variant
    seeds: tuple[tuple[Look, ...], ...]

    @property
    def updates(self) -> Floats:
        """[looks]"""
        return np.array([look.update for look in self.seeds[0]], np.float64)

    def values(self, of: Callable[[Look], float | None]) -> Floats:
        """A number of every look: [seeds, looks], NaN where there is none."""
        found = [[of(look) for look in looks] for looks in self.seeds]
        return np.array([[np.nan if value is None else value for value in one] for one in found], np.float64)

    def line(self, label: str, values: Floats) -> Line:
        """The mean over seeds of values [seeds, looks], with a band of one standard deviation to either side."""
        mean = values.mean(0)
        spread = values.std(0, ddof=1) if len(values) > 1 else np.zeros_like(mean)
        return Line(label, self.updates, mean, mean - spread, mean + spread)


def looked_at(models: Sequence[Variant], inputs: Mapping[str, Path], entropy: bool = False) -> list[Looked]:
    """The models of several tasks that have such scores; a run that stopped early cuts the others' curves."""
    found = []
    for variant in models:
        looks = [read_curve(inputs[run.train]) for run in variant.runs] if len(variant.learnt) > 1 else []
        if not looks or not all(own and (own[0].entropy or not entropy) for own in looks):
            continue
        common = set.intersection(*({look.update for look in own} for own in looks))
        kept = tuple(tuple(look for look in own if look.update in common) for own in looks)
        if common:
            found.append(Looked(variant, kept))
    if not found:
        what = "how unsure tasks are of dev" if entropy else "dev scores"
        raise StageError("E946", f"no model of several tasks was asked for {what} on the way", hint=hint(entropy))
    return found
