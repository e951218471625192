"""Does the word that a head attends to most stand in a dependency or semantic-role relation? Asked of every head."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.analyses._probes.options import ProbeOptions
from mtlspec.spec.families import LayerKind

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement


class Options(ProbeOptions):
    type: Literal["attention_probe"]
    layer_kinds: ClassVar[Mapping[str, LayerKind]] = {"dep": "dep", "srl": "srl"}
    dep: str | None = Field(
        default=None, description="A layer of dependency trees; an arc is found in either direction."
    )
    srl: str | None = Field(
        default=None,
        description="A layer of semantic roles; a role is found if the predicate attends most to a word of the "
        "argument, or such a word to the predicate.",
    )
    with_self: bool = Field(default=True, description="May a word attend most to itself? `false` looks past it.")

    def measure(self, job: Measurement) -> Measured:
        """Writes `probe.parquet` and `probe.json`, and with the pre-trained encoder `baselines.json`."""
        from mtlspec.analyses._probes.baselines import write_baselines
        from mtlspec.analyses._probes.measure import measure_subjects
        from mtlspec.analyses._probes.passes import probe_attention

        baselines = partial(write_baselines, job.out, choosing=self.choosing, with_self=self.with_self)
        return measure_subjects(self, job, partial(probe_attention, with_self=self.with_self), baselines)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/`, `probe.parquet` and `analysis.json`; returns facts for the record."""
        from mtlspec.analyses._probes.findings import write_findings

        return write_findings(self, "Attention probes", job)
