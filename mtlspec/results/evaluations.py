"""Scores of evaluated models, and the numbers for every example behind them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.errors import StageError
from mtlspec.metrics.metric import Metric, Rows
from mtlspec.metrics.rebuild import rebuild_metric
from mtlspec.results.variants import Variant
from mtlspec.spec.cards import ABOUT_SCORES


def scored_splits(about: Mapping[str, Any]) -> tuple[str, ...]:
    """The splits that a task has scores of: dev, test if it is annotated, then further ones by name."""
    splits = sorted(about.keys() - set(ABOUT_SCORES))
    return (*(split for split in ("dev", "test") if split in splits), *(s for s in splits if s not in ("dev", "test")))


@dataclass(frozen=True)
class Evaluation:
    """One evaluate artifact: scores.json, metrics.json, and counts.npz as task -> rows of its metric [examples, K].

    A task whose test data are not annotated has neither rows nor a test score.
    """

    scores: Mapping[str, Any]
    metrics: Mapping[str, Metric]
    counts: Mapping[str, Rows]

    @classmethod
    def read(cls, directory: Path) -> Evaluation:
        scores = json.loads((directory / "scores.json").read_bytes())
        about = json.loads((directory / "metrics.json").read_bytes())
        with np.load(directory / "counts.npz", allow_pickle=False) as arrays:
            counts = {task: arrays[task] for task in scores if task in arrays.files}
        evaluation = cls(scores, {task: rebuild_metric(about[task]) for task in scores}, counts)
        for task in counts:
            evaluation._check(task, directory)
        return evaluation

    def main(self, task: str) -> str:
        return str(self.scores[task]["main"])

    def is_scored(self, task: str) -> bool:
        """Whether the test split has labels of a task that can be scored; without them there are predictions only."""
        return "test" in self.scores[task]

    def undefined(self, task: str, split: str = "test") -> str:
        """Why labels of a split give no score, such as `constant gold`; empty where there are none."""
        return str(self.scores[task].get("undefined", {}).get(split, ""))

    def splits(self, task: str) -> tuple[str, ...]:
        """Those that a task has scores of."""
        return scored_splits(self.scores[task])

    def score(self, task: str, split: str = "test", name: str | None = None) -> float:
        """The main score, or the one of that name."""
        return float(self.scores[task][split][name or self.main(task)])

    def metric(self, task: str, name: str | None = None) -> Metric:
        """What makes the scores of a task, with another of its scores as the main one if it is named."""
        own = copy.copy(self.metrics[task])
        own.main = name or own.main
        return own

    def labels(self, task: str) -> Mapping[str, Mapping[str, float]]:
        """Label -> precision, recall, f1 and support on test; empty where a task has no labels."""
        found: Mapping[str, Mapping[str, float]] = self.scores[task]["labels"]
        return found

    def _check(self, task: str, directory: Path) -> None:
        """A test on counts means nothing unless the counts give the very score that is reported."""
        again = float(self.metrics[task].score_rows(self.counts[task])[self.main(task)])
        if abs(again - self.score(task)) > 1e-6:
            raise StageError(
                "E441",
                f"the counts of task '{task}' give {again:.4f}, its recorded score is {self.score(task):.4f}",
                directory / "counts.npz",
                "delete the artifact and run again",
            )


def unscored_words(undefined: Mapping[str, str]) -> str:
    """A clause for tasks without a test score, each with why its labels give none, if it has any.

    `test has no labels of ner; sim is not defined on test (constant gold)`
    """
    lacking = ", ".join(task for task, why in undefined.items() if not why)
    reasons = [f"{task} is not defined on test ({why})" for task, why in undefined.items() if why]
    return "; ".join([*([f"test has no labels of {lacking}"] if lacking else []), *reasons])


Evaluations = Mapping[str, Evaluation]
"""name of the evaluate stage -> what it found"""


def read_evaluations(variants: Iterable[Variant], inputs: Mapping[str, Path]) -> dict[str, Evaluation]:
    """Those of all models; `inputs` are artifacts by the names of their stages."""
    return {run.evaluate: Evaluation.read(inputs[run.evaluate]) for variant in variants for run in variant.runs}


def seed_scores(variant: Variant, task: str, evaluations: Evaluations, name: str | None = None) -> tuple[float, ...]:
    """The main test score of every seed, or the one of that name; none where test has no labels."""
    found = [evaluations[run.evaluate] for run in variant.runs]
    return tuple(evaluation.score(task, name=name) for evaluation in found if evaluation.is_scored(task))
