"""Does the word that a head attends to most stand in a dependency or semantic-role relation? Asked of every head."""

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


def measure(options: Options, job: Measurement) -> Measured:
    """Writes `probe.parquet` and `probe.json`."""
    from mtlspec.analyses._probe_measure import measure_subjects
    from mtlspec.analyses._probe_passes import probe_attention

    def probe(subject: Subject, splits: Mapping[str, PreparedSplit], questions: Sequence[Question]) -> Sequence[Tally]:
        return probe_attention(subject, splits, questions, with_self=options.with_self)

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

    return write_findings(options, "Attention probes", models, inputs, out, progress)
