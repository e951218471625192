"""A model for each task that is left out, of all the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from mtlspec.spec.families import TaskSet, TaskSetOptions


class Options(TaskSetOptions):
    least: ClassVar[int] = 2
    type: Literal["all_but_one"]

    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        return [(f"but-{left_out}", tuple(task for task in tasks if task != left_out)) for left_out in tasks]

    def count(self, tasks: Sequence[str]) -> int:
        return len(tasks)
