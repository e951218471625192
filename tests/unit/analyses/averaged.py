"""Evaluations and trainings made by hand: accuracies of a hundred words a task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.spec.families import AnalysisOptions
from tests.model_rows import model_row
from tests.trainings import write_training


class Study:
    """Models with given test accuracies, in percent; `updates` of each task, 8 examples in each."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.rows: list[ModelRow] = []
        self.inputs: dict[str, Path] = {}

    def add(
        self,
        group: str,
        scores: Mapping[str, Sequence[int]],
        sweep: Sequence[Sequence[Any]] = (),
        updates: Mapping[str, int] | None = None,
    ) -> None:
        """One model for each seed; `scores` has one number a seed."""
        for seed in range(1, len(next(iter(scores.values()))) + 1):
            row = model_row(group, list(scores), seed, sweep)
            self.inputs[row.evaluate] = evaluation(
                self.root / row.evaluate, {task: values[seed - 1] for task, values in scores.items()}
            )
            self.inputs[row.train] = write_training(self.root / row.train, updates or dict.fromkeys(scores, 100))
            self.rows.append(row)

    def run(self, options: AnalysisOptions, out: str = "out") -> tuple[Findings, Mapping[str, Any]]:
        (self.root / out).mkdir()
        facts = options.run(AnalysisJob(tuple(self.rows), self.inputs, self.root / out))
        return Findings.read(self.root / out), facts


def evaluation(directory: Path, correct: Mapping[str, int]) -> Path:
    directory.mkdir(parents=True)
    about = {
        task: {"main": "accuracy", "columns": ["correct", "words"], "test": {"accuracy": float(n)}, "dev": {}}
        for task, n in correct.items()
    }
    (directory / "scores.json").write_text(json.dumps(about))
    (directory / "metrics.json").write_text(json.dumps({task: {"type": "tag_accuracy"} for task in correct}))
    counts = {task: np.array([[n, 100]], np.int64) for task, n in correct.items()}
    np.savez(directory / "counts.npz", allow_pickle=False, **counts)
    return directory
