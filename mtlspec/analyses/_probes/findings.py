"""From the measurements of a probe to what the report shows."""

from __future__ import annotations

from typing import Any

from mtlspec.analyses._probes import tables
from mtlspec.analyses._probes.changes import Changes, changes_of
from mtlspec.analyses._probes.options import ProbeOptions
from mtlspec.analyses._probes.results import TaskResults, gather, write_all_hits
from mtlspec.results.findings import Figure, Findings
from mtlspec.results.jobs import AnalysisJob


def write_findings(options: ProbeOptions, title: str, job: AnalysisJob) -> dict[str, Any]:
    """Writes `tables/`, `figures/`, `probe.parquet` and `analysis.json`; returns facts for the stage's record."""
    results = gather(options, job)
    tested = {result.task: changes_of(result) for result in results}
    write_all_hits(options, job)
    figures: list[Figure] = []
    for done, result in enumerate(results):
        job.progress(done, len(results), result.task)
        figures += tables.draw(result, tested[result.task], job.out / "figures")
    findings = Findings(
        type=options.type,
        title=title,
        summary=tuple(sentence for result in results for sentence in tables.summary(result, tested[result.task])),
        tables=tuple(
            table
            for result in results
            for table in (tables.labels_table(result, options, tested[result.task]), tables.heads_table(result))
        ),
        figures=tuple(figures),
        numbers={"tasks": [_numbers(result, tested[result.task]) for result in results if result.labels]},
    )
    findings.write(job.out)
    return {"models": len(job.models), "labels": {result.task: len(result.labels) for result in results}}


def _numbers(result: TaskResults, tested: Changes) -> dict[str, Any]:
    """Means of labels, in percent: before training, of the controls, and after single-task training if there is any."""
    base = result.baseline
    return {
        "task": result.task,
        "labels": len(result.labels),
        "pretrained": result.mean(result.pretrained.score),
        "controls": result.control_means,
        "single": None if base is None else {"model": base.title, "score": result.mean(base.score)},
        "changes": [{**tested.mean(other), "unequal": result.but_unequal(other)} for other in result.others if base],
    }
