"""Do tasks that are more alike dissociate less? Four measures of similarity, each against what `iap` found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.analyses.iap import Options as Iap
from mtlspec.kinds import Frozen, Sequence_
from mtlspec.spec.demands import Demanding, OneCorpus, ReadsFrom
from mtlspec.spec.families import MeasuringOptions, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement


class BrainFile(Frozen):
    """What was measured of one participant: a row for each sentence of the split, in its order, a column a voxel."""

    file: str = Field(description="Below the project: `.npy`, or text with commas, tabs or blanks between numbers.")
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] = Field(description="Its digest, as `sha256sum` prints it.")


class Options(OneCorpus, Demanding, MeasuringOptions):
    """`models` names the group of single-task models, and those that start from them where transfer is asked for."""

    type: Literal["task_similarity"]
    needs: ClassVar[tuple[Needed, ...]] = ("prepare", "train", "evaluate")
    reads_from: ClassVar[ReadsFrom] = {"dissociation": Iap}
    dissociation: Sequence_[str] = Field(min_length=1, description="Analyses above this one, of the type `iap`.")
    data: str | None = Field(
        default=None,
        description="The corpus whose sentences all models read. Default: the only one, or the first of the spec.",
    )
    split: Literal["train", "dev", "test"] = Field(default="test", description="Where these sentences stand.")
    sentences: Annotated[int, Field(ge=3)] | None = Field(
        default=1000, description="A random sample of so many of them; null: all."
    )
    vector: Literal["mean", "first", "last"] = Field(
        default="mean",
        description="Of a sentence: the mean of its sub-tokens without special ones, or that of its first or last one.",
    )
    single: str = Field(default="stl", description="The group whose models of one task stand for the tasks.")
    transfer: Sequence_[str] = Field(
        default=(),
        description="Groups whose models learn one task and start from those of `single` (`take: encoder`), for `ahp`.",
    )
    brain: Sequence_[BrainFile] = Field(
        default=(),
        description="Brain data, for `cnm`: the `file` of each participant, a row for each sentence of the split, and "
        "its `sha256`.",
    )
    voxels: Annotated[int, Field(ge=2)] = Field(
        default=5000, description="Of each participant, so many voxels that all models together predict best."
    )
    folds: Annotated[int, Field(ge=2)] = Field(
        default=5, description="Parts of the sentences; the brain data of each are predicted from the others."
    )
    draws: Annotated[int, Field(ge=20)] = Field(
        default=2000, description="Random orders of more than seven tasks; of fewer, all orders are tried."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of the sample, the parts and the orders.")
    test_alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Level of the tests, after Holm's correction."
    )

    def measure(self, job: Measurement) -> Measured:
        """Writes `about.json`, and of a model that stands for a task `vectors.npy` and `brain.npz`."""
        from mtlspec.analyses._similarity.measure import measure_vectors

        return measure_vectors(self, job)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses._similarity.findings import find

        return find(self, job)
