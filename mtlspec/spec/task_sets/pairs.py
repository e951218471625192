"""A model for every pair of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar, Literal

from mtlspec.spec.families import TaskSet, TaskSetOptions


class Options(TaskSetOptions):
    least: ClassVar[int] = 2
    type: Literal["pairs"]

    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        return [("-".join(pair), pair) for pair in combinations(tasks, 2)]

    def count(self, tasks: Sequence[str]) -> int:
        return len(tasks) * (len(tasks) - 1) // 2
