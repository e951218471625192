"""A model for each task with those tasks that help it: chosen while the study runs, from evaluations of single-task
models and of pairs.

A task that none helps is learnt alone, as in the single-task model; a task that one helps, as in that pair. Neither is
trained again where it would be trained alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from mtlspec.errors import did_you_mean
from mtlspec.spec.families import TaskSet
from mtlspec.spec.k_sigma import WHAT_IS_DDOF, WHAT_IS_HIGHER, WHAT_IS_RULE, Ddof, K, KSigma, Rule, Spread
from mtlspec.spec.selected import Candidate, Evaluated, ModelRead, SelectedTaskSet, Selection


class Options(SelectedTaskSet):
    type: Literal["oracle"]
    target: str = Field(default="each", description="The task that is to be helped; `each`: one model for every task.")
    single: str = Field(default="stl", description="The group of single-task models.")
    pairs: str = Field(default="pair", description="The group with the pairs of tasks.")
    on: Literal["dev", "test"] = Field(
        default="dev",
        description="The split whose scores decide. `test`, as the paper has it, lets the test split choose the models"
        " that it then scores.",
    )
    k: K = Field(default=1.5, description=f"A task is taken if the pair is higher. {WHAT_IS_HIGHER}")
    ddof: Ddof = Field(default=1, description=WHAT_IS_DDOF)
    rule: Rule = Field(default="printed", description=WHAT_IS_RULE)

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
        return self._higher.least_seeds

    def reads(self, known: Sequence[str], tasks: Sequence[str]) -> list[ModelRead]:
        (target,) = known
        pairs = [(self.pairs, frozenset((target, other))) for other in tasks if other != target]
        return [(self.single, frozenset(known)), *pairs]

    def select(self, known: Sequence[str], evaluated: Sequence[Evaluated]) -> Selection:
        (target,) = known
        scores: dict[frozenset[str], list[float]] = {}
        for model in evaluated:
            scores.setdefault(frozenset(model.tasks), []).append(model.score(target, self.on))
        alone = self._higher.spread(scores.pop(frozenset(known)))
        candidates = []
        for tasks, values in scores.items():
            (partner,) = tasks - {target}
            paired = self._higher.spread(values)
            numbers = {**_told("alone", alone), **_told("paired", paired)}
            candidates.append(Candidate(partner, self._higher.higher(paired, alone), numbers))
        return Selection((target, *(found.task for found in candidates if found.chosen)), tuple(candidates))

    @property
    def _higher(self) -> KSigma:
        return KSigma(self.k, self.ddof, self.rule)


def _told(name: str, spread: Spread | None) -> dict[str, float]:
    """Where every run counts as missing, so does the score: 0, as it was read."""
    found = spread or Spread(0.0, 0.0)
    return {name: found.mean, f"{name}_std": found.std}
