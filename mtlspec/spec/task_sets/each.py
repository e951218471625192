"""A model for each task, alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mtlspec.spec.families import TaskSet, TaskSetOptions


class Options(TaskSetOptions):
    type: Literal["each"]

    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        return [(task, (task,)) for task in tasks]

    def count(self, tasks: Sequence[str]) -> int:
        return len(tasks)
