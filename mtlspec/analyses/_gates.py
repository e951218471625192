"""Head gates of trained models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mtlspec.analyses._agreement import Map
from mtlspec.analyses._variants import Variant
from mtlspec.errors import StageError
from mtlspec.model.multitask import load_model

if TYPE_CHECKING:
    from mtlspec.model.sharing import HeadMeasure

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Gated:
    """A model's heads in its runs, each [R, L, H]."""

    variant: Variant
    gates: Map  # of evaluation: 0 where a head is not kept
    use: Map  # the chosen measure of utilisation

    @property
    def kept(self) -> list[float]:
        """Share of heads kept, per run."""
        return [float((run > 0).mean()) for run in self.gates]


def read_gates(
    variants: Sequence[Variant], inputs: Mapping[str, Path], measure: HeadMeasure, progress: Progress
) -> list[Gated]:
    """Those of all variants; an error if one gates no heads."""
    found = []
    for done, variant in enumerate(variants):
        progress(done, len(variants), variant.label)
        gated = gates_of(variant, inputs, measure)
        if gated is None:
            raise StageError(
                "E453",
                f"the models of group '{variant.group}' have no head gates",
                hint="name groups with `sharing: l0` under `models` of this analysis",
            )
        found.append(gated)
    return found


def gates_of(variant: Variant, inputs: Mapping[str, Path], measure: HeadMeasure = "gate") -> Gated | None:
    """None if the models' sharing strategy gates no heads."""
    strategies = [load_model(inputs[run.train]).sharing for run in variant.runs]
    both = [[strategy.head_gates(which) for strategy in strategies] for which in ("gate", measure)]
    gates, use = ([gates.double().numpy() for gates in runs if gates is not None] for runs in both)
    return Gated(variant, np.stack(gates), np.stack(use)) if len(gates) == len(strategies) else None
