"""A model for each of the tasks that are named, alone; other tasks of the spec have no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from mtlspec.kinds import Sequence_
from mtlspec.spec.families import TaskSet, TaskSetOptions
from mtlspec.spec.task_sets.each import Options as Each


class Options(TaskSetOptions):
    type: Literal["each_of"]
    names: Sequence_[str] = Field(description="The tasks that have a model each.")

    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        del tasks
        return Each(type="each").sets(self.names)

    def count(self, tasks: Sequence[str]) -> int:
        del tasks
        return Each(type="each").count(self.names)
