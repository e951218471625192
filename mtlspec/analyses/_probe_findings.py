"""From the measurements of a probe to what the report shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtlspec.analyses import _probe_tables as tables
from mtlspec.analyses._findings import Figure, Findings
from mtlspec.analyses._probe_options import ProbeOptions
from mtlspec.analyses._probe_results import gather, write_all_hits


def write_findings(
    options: ProbeOptions,
    title: str,
    models: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Path],
    out: Path,
    progress: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """Writes `tables/`, `figures/`, `probe.parquet` and `analysis.json`; returns facts for the stage's record."""
    results = gather(options, models, inputs)
    write_all_hits(options, models, inputs, out)
    figures: list[Figure] = []
    for done, result in enumerate(results):
        progress(done, len(results), result.task)
        figures += tables.draw(result, out / "figures")
    findings = Findings(
        type=options.type,
        title=title,
        summary=tuple(sentence for result in results for sentence in tables.summary(result)),
        tables=tuple(
            table for result in results for table in (tables.labels_table(result, options), tables.heads_table(result))
        ),
        figures=tuple(figures),
    )
    findings.write(out)
    return {"models": len(models), "labels": {result.task: len(result.labels) for result in results}}
