"""A model for each task with those tasks that help it: chosen while the study runs, from evaluations of single-task
models and of pairs.

A task that none helps is learnt alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Annotated, Literal

from pydantic import Field

from mtlspec.errors import did_you_mean
from mtlspec.spec.families import TaskSet
from mtlspec.spec.selected import Candidate, Evaluated, ModelRead, SelectedTaskSet, Selection


class Options(SelectedTaskSet):
    type: Literal["helpful"]
    target: str = Field(default="each", description="The task that is to be helped; `each`: one model for every task.")
    single: str = Field(default="stl", description="The group of single-task models.")
    pairs: str = Field(default="pair", description="The group with the pairs of tasks.")
    k: Annotated[float, Field(ge=0)] = Field(
        default=1.5,
        description="A task is taken if mean - k std of the pair is above mean + k std of the single-task models, "
        "on dev and over the seeds.",
    )
    ddof: Literal[0, 1] = Field(
        default=1,
        description="1: the standard deviation of a sample (n - 1), which needs two seeds. 0: of a population.",
    )

    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        return [(task, (task,)) for task in tasks if self.target in ("each", task)]

    def count(self, tasks: Sequence[str]) -> int:
        return len(tasks) if self.target == "each" else 1

    def problem(self, tasks: Sequence[str]) -> str | None:
        if self.target != "each" and self.target not in tasks:
            hint = did_you_mean(self.target, tasks)
            return f"there is no task '{self.target}' to help" + (f"; {hint}" if hint else "")
        if self.target == "each" and "each" in tasks:
            return "`target: each` means every task, and one is called 'each'; give that task another name"
        return super().problem(tasks)

    @property
    def least_seeds(self) -> int:
        return 1 + self.ddof

    def reads(self, known: Sequence[str], tasks: Sequence[str]) -> list[ModelRead]:
        (target,) = known
        pairs = [(self.pairs, frozenset((target, other))) for other in tasks if other != target]
        return [(self.single, frozenset(known)), *pairs]

    def select(self, known: Sequence[str], evaluated: Sequence[Evaluated]) -> Selection:
        (target,) = known
        scores: dict[frozenset[str], list[float]] = {}
        for model in evaluated:
            scores.setdefault(frozenset(model.tasks), []).append(model.score(target, "dev"))
        mean, std = self._spread(scores.pop(frozenset(known)))
        candidates = []
        for tasks, values in scores.items():
            (partner,) = tasks - {target}
            paired, paired_std = self._spread(values)
            numbers = {"alone": mean, "alone_std": std, "paired": paired, "paired_std": paired_std}
            helps = paired - self.k * paired_std > mean + self.k * std
            candidates.append(Candidate(partner, helps, numbers))
        return Selection((target, *(found.task for found in candidates if found.chosen)), tuple(candidates))

    def _spread(self, values: Sequence[float]) -> tuple[float, float]:
        """Mean and standard deviation over seeds."""
        mean = fmean(values)
        return mean, (sum((value - mean) ** 2 for value in values) / (len(values) - self.ddof)) ** 0.5
