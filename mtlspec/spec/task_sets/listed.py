"""One model of the tasks that are named; `tasks: [pos, ner]` is short for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from mtlspec.kinds import Sequence_
from mtlspec.spec.families import TaskSet, TaskSetOptions


class Options(TaskSetOptions):
    type: Literal["listed"]
    names: Sequence_[str] = Field(
        description="The tasks of the model. It is named in this order; a trained model has them in alphabetical order."
    )

    def sets(self, tasks: Sequence[str]) -> list[TaskSet]:
        del tasks
        return [("-".join(self.names), self.names)]

    def count(self, tasks: Sequence[str]) -> int:
        del tasks
        return 1
