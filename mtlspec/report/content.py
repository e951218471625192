"""What the report says, gathered from artifacts before anything is laid out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtlspec.analyses import _score_tables
from mtlspec.analyses._findings import Figure, Findings
from mtlspec.analyses._history import read_epochs
from mtlspec.analyses._scores import Evaluation
from mtlspec.analyses._tables import Cell, Table, mean_and_std, score_text
from mtlspec.analyses._variants import Variant, variants
from mtlspec.report.statistics import statistics_tables

Params = Mapping[str, Any]
Inputs = Mapping[str, Path]


@dataclass(frozen=True)
class Section:
    """One chapter of the report; `figures` come with the file that holds them, without its suffix."""

    anchor: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[tuple[Figure, Path], ...]


@dataclass(frozen=True)
class Content:
    spec: Params
    data: Params
    encoder: Params
    environment: Params
    models: tuple[Variant, ...]
    metrics: Mapping[str, str]  # task -> main metric
    sections: tuple[Section, ...]  # of the analyses
    training: Table
    statistics: tuple[Table, ...]

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(sentence for section in self.sections for sentence in section.sentences)

    @property
    def runs(self) -> int:
        return sum(len(variant.runs) for variant in self.models)


def gather(params: Params, inputs: Inputs, environment: Params) -> Content:
    models = variants(params["models"])
    evaluations = {run.stage: Evaluation.read(inputs[run.stage]) for variant in models for run in variant.runs}
    metrics: dict[str, str] = {}
    for variant in models:  # in the order of the spec: JSON objects have lost it
        for task in variant.tasks:
            metrics.setdefault(task, evaluations[variant.runs[0].stage].main(task))
    found = {name: Findings.read(inputs[stage]) for name, stage in params["analyses"].items()}
    sections = [_analysis_section(name, findings, inputs[params["analyses"][name]]) for name, findings in found.items()]
    if not any(findings.type == "score_matrix" for findings in found.values()):
        sections.insert(0, _plain_scores(models, evaluations))
    statistics = json.loads((inputs["prepare"] / "statistics.json").read_bytes())
    return Content(
        spec=params["spec"],
        data=params["data"],
        encoder=params["encoder"],
        environment=environment,
        models=models,
        metrics=metrics,
        sections=tuple(sections),
        training=_training_table(models, evaluations, inputs),
        statistics=statistics_tables(statistics),
    )


def _analysis_section(name: str, findings: Findings, directory: Path) -> Section:
    figures = tuple((figure, directory / "figures" / figure.name) for figure in findings.figures)
    title = findings.title if name == findings.title.lower() else f"{findings.title}: {name}"
    return Section(name, title, findings.summary, findings.tables, figures)


def _plain_scores(models: tuple[Variant, ...], evaluations: Mapping[str, Evaluation]) -> Section:
    """A spec without a score matrix still gets its scores, without comparisons."""
    matrix = _score_tables.Matrix(models, evaluations, (), baseline="", alpha=0.05, rounds=0)
    return Section("scores", "Scores", (), (_score_tables.scores_table(matrix),), ())


def _training_table(models: tuple[Variant, ...], evaluations: Mapping[str, Evaluation], inputs: Inputs) -> Table:
    """One row a trained model: how long it learned, which epoch was kept, how it did on dev and test."""
    sections = []
    for variant in models:
        rows = []
        for run in variant.runs:
            epochs = read_epochs(inputs[run.train])
            best = max((epoch for epoch in epochs if epoch.best), key=lambda epoch: epoch.number)
            scores = [evaluations[run.stage].score(task) for task in variant.tasks]
            test, _ = mean_and_std(scores)
            rows.append(
                (
                    Cell(run.train.removeprefix("train-"), run.train, source=f"{run.train} · {run.stage}"),
                    Cell(str(run.seed), run.seed),
                    Cell(str(len(epochs)), len(epochs)),
                    Cell(str(best.number), best.number),
                    Cell(score_text(best.mean, None), best.mean, source=run.train),
                    Cell(score_text(test, None), test, source=run.stage),
                )
            )
        sections.append((variant.label, tuple(rows)))
    columns = ("model", "seed", "epochs", "best epoch", "dev mean", "test mean")
    caption = "Every trained model. The kept epoch is the one with the best mean dev score over the model's tasks."
    return Table("training", "Trained models", caption, columns, tuple(sections))
