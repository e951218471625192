"""Task sets that are decided while a study runs: a `select` stage reads evaluations and writes which tasks to learn."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from mtlspec.errors import StageError
from mtlspec.kinds import parse
from mtlspec.spec.families import TASK_SETS, TaskSetOptions

ModelRead: TypeAlias = tuple[str, frozenset[str]]  # a model group and the tasks of one of its models


@dataclass(frozen=True)
class Evaluated:
    """One evaluated model, for a choice to rest on."""

    group: str
    tasks: tuple[str, ...]
    seed: int
    directory: Path  # its evaluation: `scores.json`, `counts.npz`
    scores: Mapping[str, Any] = field(repr=False)

    @classmethod
    def read(cls, group: str, tasks: Sequence[str], seed: int, directory: Path) -> Evaluated:
        return cls(group, tuple(tasks), seed, directory, json.loads((directory / "scores.json").read_bytes()))

    def score(self, task: str, split: str) -> float:
        """The main score of a task."""
        try:
            about = self.scores[task]
            return float(about[split][about["main"]])
        except (KeyError, TypeError):
            message = f"this evaluation has no score of '{task}' on {split}, on which a choice of tasks rests"
            raise StageError("E462", message, self.directory / "scores.json") from None


@dataclass(frozen=True)
class Candidate:
    """A task that could have been chosen, with the numbers that decided."""

    task: str
    chosen: bool
    numbers: Mapping[str, float]


@dataclass(frozen=True)
class Selection:
    """The tasks to learn, known ones first, and why."""

    tasks: tuple[str, ...]
    candidates: tuple[Candidate, ...]

    def facts(self) -> dict[str, Any]:
        """For the stage's record."""
        numbers = {found.task: {"chosen": found.chosen, **found.numbers} for found in self.candidates}
        return {"tasks": list(self.tasks), "candidates": numbers}


class SelectedTaskSet(TaskSetOptions):
    """A task set of which `sets` gives the tasks that are known beforehand; others join them by a choice."""

    least: ClassVar[int] = 2

    @property
    def least_seeds(self) -> int:
        """How many seeds the choice needs."""
        return 1

    def candidates(self, known: Sequence[str], tasks: Sequence[str]) -> tuple[str, ...]:
        """Every task that a model may come to learn, in the spec's order; its code and its data may be needed."""
        del known
        return tuple(tasks)

    @abstractmethod
    def reads(self, known: Sequence[str], tasks: Sequence[str]) -> list[ModelRead]:
        """The models whose evaluations the choice rests on, each with all its seeds."""

    @abstractmethod
    def select(self, known: Sequence[str], evaluated: Sequence[Evaluated]) -> Selection:
        """The choice; `evaluated` are all seeds of the models of `reads`, in its order."""


def select(params: Mapping[str, Any], inputs: Mapping[str, Path]) -> Selection:
    """The choice of a `select` stage, from its parameters and the evaluations that it reads."""
    options = parse(TASK_SETS, SelectedTaskSet, params["options"])
    evaluated = [
        Evaluated.read(row["group"], row["tasks"], row["seed"], inputs[row["evaluate"]]) for row in params["models"]
    ]
    return options.select(params["known"], evaluated)
