"""A model for every two of the tasks that are named; other tasks of the spec have no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from mtlspec.kinds import Sequence_
from mtlspec.spec.families import TaskSet, TaskSetOptions
from mtlspec.spec.task_sets.pairs import Options as Pairs


class Options(TaskSetOptions):
    type: Literal["pairs_of"]
    names: Sequence_[str] = Field(description="The tasks that are paired.")

    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        del tasks
        return Pairs(type="pairs").sets(self.names)

    def count(self, tasks: Sequence[str]) -> int:
        del tasks
        return Pairs(type="pairs").count(self.names)

    def problem(self, tasks: Sequence[str]) -> str | None:
        """An empty list has an error of its own."""
        return "'pairs_of' names one task, and pairs need two" if len(self.names) == 1 else super().problem(tasks)
