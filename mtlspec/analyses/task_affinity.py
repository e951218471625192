"""Who would help whom, estimated in one short joint training, and judged by the pairs that were trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.analyses._transfer.reading import ReadsTransfer
from mtlspec.spec.families import MeasuringOptions, Needed
from mtlspec.spec.several_tasks import SeveralTasks

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement

Positive = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(gt=0)]


class Options(ReadsTransfer, SeveralTasks, MeasuringOptions):
    """`models` names a group of joint models. A model like each of them is trained anew, shortly, and looked at."""

    type: Literal["task_affinity"]
    needs: ClassVar[tuple[Needed, ...]] = ("prepare", "encoder", "train")
    updates: Positive = Field(default=120, description="Length of the training.")
    every: Positive = Field(default=5, description="Updates from one look to the next.")
    examples: Positive = Field(default=8, description="Of each task, in every batch.")
    lr: Rate = Field(default=2e-3, description="Learning rate of the training (Adam).")
    step: Rate = Field(
        default=0.05,
        description="How far a look goes along one task's gradient before it reads the other tasks' losses.",
    )
    draws: Annotated[int, Field(ge=20)] = Field(
        default=2000, description="Random exchanges of the tasks' names behind each p value."
    )

    def measure(self, job: Measurement) -> Measured:
        """Writes `affinity.json`."""
        from mtlspec.analyses._affinity.measure import measure_affinity

        return measure_affinity(self, job)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses._affinity.findings import find

        return find(self, job)
