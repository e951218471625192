"""One model of all tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mtlspec.spec.families import TaskSet, TaskSetOptions


class Options(TaskSetOptions):
    type: Literal["all"]

    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        return [("all", tuple(tasks))]

    def count(self, tasks: Sequence[str]) -> int:
        del tasks
        return 1
