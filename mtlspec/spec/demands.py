"""What an analysis demands of the spec around it: said by its options, asked by `mtlspec check` before anything runs.

This stands apart from the families because every stage's code includes those, and trainings must not depend on what
analyses demand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from mtlspec.spec.families import AnalysisOptions

Gates = Literal["all", "some"]
ReadsFrom = Mapping[str, type[AnalysisOptions]]


class OneCorpus(AnalysisOptions):
    """An analysis that reads layers of one corpus, whichever its models learnt from; `layer_kinds` are its options."""

    data: str | None = Field(
        default=None, description="The corpus to read. Default: the only one, or the only one with the layers."
    )


class Comparing(AnalysisOptions):
    """An analysis that compares models with the single-task models of a group."""

    baseline: str = Field(default="stl", description="The group whose single-task models others are compared with.")

    def compares_runs(self) -> bool:
        """Whether it asks about ways of training, which takes several seeds."""
        return True


class Demanding(AnalysisOptions):
    """An analysis that works in some specs only."""

    needs_gates: ClassVar[Gates | None] = None  # how many of its models must have head gates
    needs_task_heads: ClassVar[bool] = False  # True: in some of its models, tasks must have heads of their own
    single_task: ClassVar[bool] = False  # True: models of several tasks are passed over
    least_tasks: ClassVar[str | None] = None  # the option that says how many tasks must have a model
    reads_from: ClassVar[ReadsFrom] = {}  # options that name analyses -> what these must be
    groups_read: ClassVar[tuple[str, ...]] = ()  # options that name a model group of the analyses that are read

    def gates_needed(self) -> Gates | None:
        """`needs_gates`, unless other options decide."""
        return self.needs_gates

    def reads(self) -> tuple[str, ...]:
        return tuple(name for option in self.reads_from for name in getattr(self, option))
