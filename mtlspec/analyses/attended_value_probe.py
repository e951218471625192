"""Does the centroid nearest to what a head attends to name the label of a word or span? Asked of every head."""

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
    type: Literal["attended_value_probe"]
    layer_kinds: ClassVar[Mapping[str, LayerKind]] = {"pos": "tags", "ner": "tags", "con": "con"}
    pos: str | None = Field(default=None, description="A layer of tags; every word is a span of its own.")
    ner: str | None = Field(default=None, description="A layer of tags that spell spans, such as BIO.")
    con: str | None = Field(
        default=None, description="A layer of trees; the phrases right above the tags (height 3) are the spans."
    )

    def measure(self, job: Measurement) -> Measured:
        """Writes `probe.parquet` and `probe.json`."""
        from mtlspec.analyses._probes.measure import measure_subjects
        from mtlspec.analyses._probes.passes import probe_values

        return measure_subjects(self, job, partial(probe_values, centroids=self.choosing))

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/`, `probe.parquet` and `analysis.json`; returns facts for the record."""
        from mtlspec.analyses._probes.findings import write_findings

        return write_findings(self, "Attended-value probes", job)
