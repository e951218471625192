"""From the measurements of a probe to what the report shows."""

from __future__ import annotations

from typing import Any

from mtlspec.analyses._probes import tables
from mtlspec.analyses._probes.options import ProbeOptions
from mtlspec.analyses._probes.results import gather, write_all_hits
from mtlspec.results.findings import Figure, Findings
from mtlspec.results.jobs import AnalysisJob


def write_findings(options: ProbeOptions, title: str, job: AnalysisJob) -> dict[str, Any]:
    """Writes `tables/`, `figures/`, `probe.parquet` and `analysis.json`; returns facts for the stage's record."""
    results = gather(options, job)
    write_all_hits(options, job)
    figures: list[Figure] = []
    for done, result in enumerate(results):
        job.progress(done, len(results), result.task)
        figures += tables.draw(result, job.out / "figures")
    findings = Findings(
        type=options.type,
        title=title,
        summary=tuple(sentence for result in results for sentence in tables.summary(result)),
        tables=tuple(
            table for result in results for table in (tables.labels_table(result, options), tables.heads_table(result))
        ),
        figures=tuple(figures),
    )
    findings.write(job.out)
    return {"models": len(job.models), "labels": {result.task: len(result.labels) for result in results}}
