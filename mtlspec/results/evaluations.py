"""Scores and per-sentence counts of evaluated models."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.errors import StageError
from mtlspec.metrics.metric import Counts, Scores, percentage, precision_recall_f1
from mtlspec.results.variants import Variant


@dataclass(frozen=True)
class Evaluation:
    """One evaluate artifact: scores.json, and counts.npz as task -> int64 [sentences, counts]."""

    scores: Mapping[str, Any]
    counts: Mapping[str, Counts]

    @classmethod
    def read(cls, directory: Path) -> Evaluation:
        scores = json.loads((directory / "scores.json").read_bytes())
        with np.load(directory / "counts.npz", allow_pickle=False) as arrays:
            counts = {task: arrays[task] for task in scores}
        evaluation = cls(scores, counts)
        for task in scores:
            evaluation._check(task, directory)
        return evaluation

    def main(self, task: str) -> str:
        return str(self.scores[task]["main"])

    def score(self, task: str, split: str = "test") -> float:
        return float(self.scores[task][split][self.main(task)])

    def _check(self, task: str, directory: Path) -> None:
        """A test on counts means nothing unless the counts give the very score that is reported."""
        again = float(score_of_counts(self.scores[task]["columns"], self.main(task))(self.counts[task].sum(axis=0)))
        if abs(again - self.score(task)) > 1e-6:
            raise StageError(
                "E441",
                f"the counts of task '{task}' give {again:.4f}, its recorded score is {self.score(task):.4f}",
                directory / "counts.npz",
                "delete the artifact and run again",
            )


Evaluations = Mapping[str, Evaluation]
"""name of the evaluate stage -> what it found"""


def score_of_counts(columns: Sequence[str], main: str) -> Callable[[npt.ArrayLike], Scores]:
    """From summed counts [..., K] to the main score [...].

    Counts that begin with (correct, predicted, gold) are of the family of F measures; any other metric is the column
    that bears the main score's name (else the first) over the column `words` (else the last).
    """
    if tuple(columns[:3]) == ("correct", "predicted", "gold"):
        return lambda totals: precision_recall_f1(np.asarray(totals)[..., :3])[main]
    part = list(columns).index(main) if main in columns else 0
    whole = list(columns).index("words") if "words" in columns else len(columns) - 1

    def ratio(totals: npt.ArrayLike) -> Scores:
        array = np.asarray(totals)
        return percentage(array[..., part], array[..., whole])

    return ratio


def read_evaluations(variants: Iterable[Variant], inputs: Mapping[str, Path]) -> dict[str, Evaluation]:
    """Those of all models; `inputs` are artifacts by the names of their stages."""
    return {run.evaluate: Evaluation.read(inputs[run.evaluate]) for variant in variants for run in variant.runs}


def seed_scores(variant: Variant, task: str, evaluations: Evaluations) -> tuple[float, ...]:
    """The main test score of every seed."""
    return tuple(evaluations[run.evaluate].score(task) for run in variant.runs)


def pooled_counts(variant: Variant, task: str, seeds: Sequence[int], evaluations: Evaluations) -> Counts:
    """Counts per test sentence, summed over `seeds`: [sentences, counts].

    A sentence is exchanged with all its seeds at once, because its results under several seeds are not independent.
    """
    chosen = [evaluations[run.evaluate].counts[task] for run in variant.runs if run.seed in seeds]
    return np.asarray(np.sum(np.stack(chosen), axis=0), np.int64)
