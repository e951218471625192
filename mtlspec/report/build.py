"""The whole report: page, Markdown, copies of every table and figure beside them, and what the GLUE server takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mtlspec.io.write import write_bytes, write_text
from mtlspec.report.content import gather
from mtlspec.report.curves import draw_curves
from mtlspec.report.glue import submissions
from mtlspec.report.markdown import markdown, summary
from mtlspec.report.page import html

SUMMARY = "summary.md"


def build_report(
    params: Mapping[str, Any],
    inputs: Mapping[str, Path],
    environment: Mapping[str, Any],
    out: Path,
    progress: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """Fills `out`; returns facts for the stage's record."""
    progress(0, 3, "reading artifacts")
    figures = out / "figures"
    content = gather(params, inputs, environment, figures)
    progress(1, 3, "drawing learning curves")
    curves = draw_curves(content.models, content.metrics, inputs, figures)
    progress(2, 3, "writing the page")
    for section in content.sections:  # each in a folder of its own: two analyses may both have a table `scores`
        for table in section.tables:
            table.write(out / "tables" / section.anchor)
        for figure, source in section.figures:
            for suffix in ("svg", "png"):
                target = figures / section.anchor / f"{figure.name}.{suffix}"
                if source.with_suffix(f".{suffix}") != target:  # the report's own are there already
                    write_bytes(target, source.with_suffix(f".{suffix}").read_bytes())
    statistics = [table for corpus in content.corpora for table in corpus.statistics]
    own = (content.overview, content.lengths, content.training, content.provenance, content.labelled)
    for table in (*own, *content.hyperparameters, *statistics):
        table.write(out / "tables")
    runs = [run for variant in content.models for run in variant.runs]
    for name, zipped in submissions(params["spec"]["tasks"], runs, inputs).items():
        write_bytes(out / "glue" / name, zipped)
    write_text(out / "report.html", html(content, curves, figures))
    write_text(out / "report.md", markdown(content, curves))
    write_text(out / SUMMARY, summary(content))
    plain = {
        "answers": [asdict(answer) for answer in content.answers],
        "groups": [list(group) for group in content.groups],
        "main": dict(content.metrics),  # task -> the score that decides
        "signatures": content.signatures.facts,
    }
    return {"models": content.runs, "sections": len(content.sections), "findings": list(content.findings), **plain}
