"""Head gates of trained models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mtlspec.analyses._agreement import Map
from mtlspec.errors import StageError
from mtlspec.model.strategy import load_strategy
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.kept import kept_share
from mtlspec.results.variants import Variant

if TYPE_CHECKING:
    from mtlspec.model.sharing import HeadMeasure


@dataclass(frozen=True)
class Gated:
    """A model's heads in its runs, each [R, L, H]."""

    variant: Variant
    gates: Map  # of evaluation: 0 where a head is not kept
    use: Map  # the chosen measure of utilisation
    counts: tuple[int, ...]  # heads of each layer; a layer may have fewer than H

    @property
    def kept(self) -> list[float]:
        """Share of heads kept, per run."""
        return [kept_share(run, self.counts) for run in self.gates]


def read_gates(variants: Sequence[Variant], job: AnalysisJob, measure: HeadMeasure) -> list[Gated]:
    """Those of all variants; an error if one gates no heads."""
    found = []
    for done, variant in enumerate(variants):
        job.progress(done, len(variants), variant.label)
        gated = gates_of(variant, job, measure)
        if gated is None:
            raise StageError(
                "E453",
                f"the models of group '{variant.group}' have no head gates",
                hint="name groups with `sharing: l0` under `models` of this analysis",
            )
        found.append(gated)
    return found


def gates_of(variant: Variant, job: AnalysisJob, measure: HeadMeasure = "gate") -> Gated | None:
    """None if the models' sharing strategy gates no heads."""
    strategies = [load_strategy(job.inputs[run.train]).sharing for run in variant.runs]
    both = [[strategy.head_gates(which) for strategy in strategies] for which in ("gate", measure)]
    gates, use = ([gates.double().numpy() for gates in runs if gates is not None] for runs in both)
    if len(gates) < len(strategies):
        return None
    return Gated(variant, np.stack(gates), np.stack(use), tuple(strategies[0].encoder.heads.counts))
