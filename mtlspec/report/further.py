"""Scores on evaluation splits beside test, such as MNLI's mismatched dev set."""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.report.section import Section
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations
from mtlspec.results.score_table import source_of
from mtlspec.results.tables import Cell, Table, score_text
from mtlspec.results.variants import Variant
from mtlspec.spec.cards import SPLITS


def further_section(models: Sequence[Variant], evaluations: Evaluations) -> Section | None:
    """One table, a column for every task and split; None where corpora have no further splits with labels."""
    columns: dict[tuple[str, str], str] = {}  # (task, split) -> metric
    reasons: dict[str, None] = {}  # why splits with labels have no score
    for variant in models:
        found = evaluations[variant.runs[0].evaluate]
        for task in variant.tasks:
            undefined = {s: why for s, why in found.scores[task].get("undefined", {}).items() if s not in SPLITS}
            reasons |= {f"{task} is not defined on {split} ({why})": None for split, why in undefined.items()}
            splits = (*(split for split in found.splits(task) if split not in SPLITS), *sorted(undefined))
            columns |= {(task, split): found.main(task) for split in splits}
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
    if reasons:
        caption += f" –: {'; '.join(reasons)}."
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
