"""Does the centroid nearest to what a head attends to name the label of a word or span? Asked of every head."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.analyses._measured import Measured, Measurement
from mtlspec.analyses._probe_options import ProbeOptions
from mtlspec.spec.families import LayerKind

if TYPE_CHECKING:
    from mtlspec.analyses._probe_hits import Tally
    from mtlspec.analyses._probe_passes import Question
    from mtlspec.analyses._probe_subjects import Subject
    from mtlspec.data.prepared import PreparedSplit


class Options(ProbeOptions):
    type: Literal["attended_value_probe"]
    layer_kinds: ClassVar[Mapping[str, LayerKind]] = {"pos": "tags", "ner": "tags", "con": "con"}
    pos: str | None = Field(default=None, description="A layer of tags; every word is a span of its own.")
    ner: str | None = Field(default=None, description="A layer of tags that spell spans, such as BIO.")
    con: str | None = Field(
        default=None, description="A layer of trees; the phrases right above the tags (height 3) are the spans."
    )


def measure(options: Options, job: Measurement) -> Measured:
    """Writes `probe.parquet` and `probe.json`."""
    from mtlspec.analyses._probe_measure import measure_subjects
    from mtlspec.analyses._probe_passes import probe_values

    def probe(subject: Subject, splits: Mapping[str, PreparedSplit], questions: Sequence[Question]) -> Sequence[Tally]:
        return probe_values(subject, splits, questions, centroids=options.choosing)

    return measure_subjects(options, job, probe)


def run(
    options: Options,
    models: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Path],
    out: Path,
    progress: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """Writes `tables/`, `figures/`, `probe.parquet` and `analysis.json`; returns facts for the record."""
    from mtlspec.analyses._probe_findings import write_findings

    return write_findings(options, "Attended-value probes", models, inputs, out, progress)
