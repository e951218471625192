"""Every score of every task beside the main one, and scores of single labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mtlspec.report.section import Section
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluation, Evaluations
from mtlspec.results.score_names import spoken
from mtlspec.results.score_table import source_of
from mtlspec.results.tables import Cell, Row, Table, score_text
from mtlspec.results.variants import Variant

_OF_LABELS = ("precision", "recall", "f1")


def all_scores_section(models: Sequence[Variant], evaluations: Evaluations) -> Section | None:
    """A table for every task that has more than one score on test; None where no task has."""
    tables = []
    for task, own in _by_task(models, evaluations).items():
        first = evaluations[own[0].runs[0].evaluate]
        names = [first.main(task), *(name for name in sorted(first.scores[task]["test"]) if name != first.main(task))]
        if len(names) > 1:
            tables.append(_scores_table(task, names, own, evaluations))
    return Section("all-scores", "All scores of every task", (), tuple(tables), ()) if tables else None


def labels_section(models: Sequence[Variant], evaluations: Evaluations) -> Section | None:
    """Two tables for every task with labels: F1 of models side by side, and all scores of each; folded on screens."""
    tables = []
    for task, own in _by_task(models, evaluations).items():
        labels = _labels(task, evaluations[own[0].runs[0].evaluate])
        if labels:
            tables += [_f1_table(task, labels, own, evaluations), _label_table(task, labels, own, evaluations)]
    if not tables:
        return None
    return Section("by-label", "Scores of single labels", (), tuple(tables), (), folded=True)


def _by_task(models: Sequence[Variant], evaluations: Evaluations) -> dict[str, list[Variant]]:
    """The models of every task that test can score."""
    found: dict[str, list[Variant]] = {}
    for variant in models:
        for task in variant.tasks:
            if evaluations[variant.runs[0].evaluate].is_scored(task):
                found.setdefault(task, []).append(variant)
    return found


def _scores_table(task: str, names: Sequence[str], models: Sequence[Variant], evaluations: Evaluations) -> Table:
    rows = []
    for variant in models:
        runs = {run.seed: evaluations[run.evaluate] for run in variant.runs}
        cells = [
            _mean_cell({seed: found.score(task, name=name) for seed, found in runs.items()}, source_of(variant))
            for name in names
        ]
        rows.append((Cell(variant.label, variant.label, source=source_of(variant)), *cells))
    caption = (
        f"Test scores of {task} in percent, mean ± sample standard deviation over seeds. {spoken(names[0])} is the main"
        " score: it is compared and, where the best epoch is kept, chooses it on dev."
    )
    columns = ("model", *map(spoken, names))
    return Table(f"all_scores_{task}", f"{task}: all scores", caption, columns, (("", tuple(rows)),))


def _labels(task: str, found: Evaluation) -> dict[str, int]:
    """Label -> how often test has it, frequent ones first; labels that are only predicted say nothing of test."""
    support = {label: int(scores["support"]) for label, scores in found.labels(task).items()}
    return {label: number for label, number in sorted(support.items(), key=lambda one: (-one[1], one[0])) if number}


def _f1_table(task: str, labels: Mapping[str, int], models: Sequence[Variant], evaluations: Evaluations) -> Table:
    rows = tuple(
        (
            Cell(label, label),
            Cell(f"{number:,}", number),
            *(_label_cell(variant, task, label, "f1", evaluations) for variant in models),
        )
        for label, number in labels.items()
    )
    caption = f"F1 of every label of {task} on test in percent, mean ± sample standard deviation over seeds."
    columns = ("label", "in test", *(variant.label for variant in models))
    return Table(f"labels_{task}", f"{task}: F1 by label", caption, columns, (("", rows),))


def _label_table(task: str, labels: Mapping[str, int], models: Sequence[Variant], evaluations: Evaluations) -> Table:
    """In long form: a row for every model and label, so that the CSV is ready to be computed with."""
    sections = tuple((variant.label, _label_rows(variant, task, labels, evaluations)) for variant in models)
    caption = (
        f"Precision, recall and F1 of every label of {task} on test, in percent, mean ± sample standard deviation over"
        " seeds, and how often test has it. Labels that test does not have are left out."
    )
    columns = ("model", "label", *map(spoken, _OF_LABELS), "in test")
    return Table(f"label_scores_{task}", f"{task}: precision, recall and F1 by label", caption, columns, sections)


def _label_rows(variant: Variant, task: str, labels: Mapping[str, int], evaluations: Evaluations) -> tuple[Row, ...]:
    return tuple(
        (
            Cell(variant.label, variant.label, source=source_of(variant)),
            Cell(label, label),
            *(_label_cell(variant, task, label, name, evaluations) for name in _OF_LABELS),
            Cell(f"{number:,}", number),
        )
        for label, number in labels.items()
    )


def _label_cell(variant: Variant, task: str, label: str, name: str, evaluations: Evaluations) -> Cell:
    runs = {run.seed: evaluations[run.evaluate].labels(task)[label] for run in variant.runs}
    return _mean_cell({seed: float(scores[name]) for seed, scores in runs.items()})


def _mean_cell(by_seed: Mapping[int, float], source: str = "") -> Cell:
    """Thousands of cells of labels go without a source, which their row or column names."""
    mean, std = mean_and_std(list(by_seed.values()))
    data = {"seeds": {str(seed): value for seed, value in by_seed.items()}}
    return Cell(score_text(mean, std), mean, std, source=source, data=data)
