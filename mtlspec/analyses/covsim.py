"""Do models that align the inputs of tasks score higher? Covariance similarity of tasks against changes of scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.demands import Comparing
from mtlspec.spec.families import MeasuringOptions, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement


class Options(Comparing, MeasuringOptions):
    """What the first layer reads of a task's sub-tokens has a covariance; the similarity of two tasks is that of their
    covariances (CA-MTL, Eq. 7). Tasks of one model are compared in it, those of single-task models across them."""

    type: Literal["covsim"]
    needs: ClassVar[tuple[Needed, ...]] = ("prepare", "train", "evaluate")
    examples: Annotated[int, Field(ge=2)] = Field(
        default=500, description="How many training examples of each task are read: the first ones."
    )
    kept: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.99, description="Share of the sum of singular values that the kept ones have at least."
    )

    def measure(self, job: Measurement) -> Measured:
        """Writes `covariances.npz`: of every task the matrix X'X [D, D] of its sub-tokens' vectors."""
        from mtlspec.analyses._covariance import measure_covariances

        return measure_covariances(job, self.examples)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _covariance_tables as made
        from mtlspec.results.findings import Findings

        points = made.points(job, self.baseline, self.kept)
        findings = Findings(
            type=self.type,
            title="Covariance similarity",
            summary=made.summary(points, self.baseline),
            tables=(made.table(points, self.baseline),),
            figures=made.draw(points, job.out / "figures"),
            numbers={"points": [point.numbers() for point in points]},
        )
        findings.write(job.out)
        return {"points": len(points)}
