"""Scores on evaluation splits beside test, such as MNLI's mismatched dev set."""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.report.section import Section
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations
from mtlspec.results.score_table import source_of
from mtlspec.results.tables import Cell, Table, score_text
from mtlspec.results.variants import Variant


def further_section(models: Sequence[Variant], evaluations: Evaluations) -> Section | None:
    """One table, a column for every task and split; None where corpora have no further splits with labels."""
    columns: dict[tuple[str, str], str] = {}  # (task, split) -> metric
    for variant in models:
        found = evaluations[variant.runs[0].evaluate]
        for task in variant.tasks:
            columns |= {(task, s): found.main(task) for s in found.splits(task) if s not in ("dev", "test")}
    if not columns:
        return None
    rows = [
        (Cell(variant.label, variant.label), *(_cell(variant, *column, evaluations) for column in columns))
        for variant in models
        if any(task in variant.tasks for task, _ in columns)
    ]
    headings = ("model", *(f"{task} on {split} ({metric})" for (task, split), metric in columns.items()))
    caption = (
        "Main scores in percent, mean ± sample standard deviation over seeds, on evaluation splits that corpora have "
        "beside dev and test. They choose nothing, and comparisons do not read them."
    )
    table = Table("further_splits", "Scores beside test", caption, headings, (("", tuple(rows)),))
    return Section("further-splits", "Further evaluation splits", (), (table,), ())


def _cell(variant: Variant, task: str, split: str, evaluations: Evaluations) -> Cell:
    if task not in variant.tasks:
        return Cell()
    runs = {run.seed: evaluations[run.evaluate] for run in variant.runs}
    scores = {str(seed): found.score(task, split) for seed, found in runs.items() if split in found.splits(task)}
    if not scores:
        return Cell("–", source=source_of(variant))
    mean, std = mean_and_std(list(scores.values()))
    return Cell(score_text(mean, std), mean, std, source=source_of(variant), data={"seeds": scores})
