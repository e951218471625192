"""Functional specialisation: what every task loses without the heads that matter most to each task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.kinds import Sequence_
from mtlspec.spec.families import MeasuringOptions, Needed
from mtlspec.spec.several_tasks import SeveralTasks

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement


class Options(SeveralTasks, MeasuringOptions):
    """Models of several tasks; groups are compared with the first group that learns the same tasks."""

    reads_heads: ClassVar[bool] = True
    type: Literal["iap"]
    needs: ClassVar[tuple[Needed, ...]] = ("prepare", "train")
    tasks: Sequence_[str] = Field(
        default=(),
        description="The tasks that are told apart, such as those that were learnt at all: what is left of a score "
        "near chance says nothing. Empty means all tasks of a model.",
    )
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.3, description="The share of all heads, rounded down, that is masked for each task."
    )
    iterative: bool = Field(
        default=False,
        description="Mask a task's heads in steps, and rank those that are left anew after each: this finds heads that "
        "take over when others are gone. Default: the top of one ranking.",
    )
    step: Annotated[int, Field(ge=1)] = Field(default=1, description="Heads of a step, where `iterative` is set.")
    method: Literal["gradient", "token_abs"] = Field(
        default="gradient",
        description="Importance, on training data: mean over sentences of |dL/dxi|; `token_abs`: with absolute values "
        "per sub-token.",
    )
    normalise: Literal["none", "layers", "released"] = Field(
        default="none",
        description="Of importance: `none`, as defined; `layers`: every layer to length 1; `released`: every layer but "
        "the last, as the released code does.",
    )
    sentences: Annotated[int, Field(ge=1)] | None = Field(
        default=256, description="A random sample of so many training sentences of each corpus; null: all."
    )
    split: Literal["dev", "test"] = Field(default="test", description="The sentences that masked models are scored on.")
    scored: Annotated[int, Field(ge=2)] | None = Field(
        default=None,
        description="Score a random sample of so many examples of each task, the same for all models; null: all. Every "
        "masking reads them once, so this is what the analysis costs.",
    )
    draws: Annotated[int, Field(ge=1)] = Field(
        default=5, description="Random controls: sets with as many heads in every layer, so many for each task."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of the sample and of the random sets.")
    test_alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Level of the tests, after Holm's correction."
    )

    def measure(self, job: Measurement) -> Measured:
        """Writes `masked.json` and `counts.npz`."""
        from mtlspec.analyses._iap.measure import measure_dissociation

        return measure_dissociation(self, job)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses._iap.findings import find

        return find(self, job)
