"""What a swept number does to scores: the average over tasks, value by value, beside models that are not swept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.swept import Swept

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(Swept):
    """Takes the models that learn all tasks of the largest one. Groups with a `sweep` over the setting are curves;
    groups without one are levels beside them, and every point is compared with the first of these."""

    type: Literal["sweep_curve"]
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Level of the tests, after Holm's correction."
    )

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _sweep_curve as made
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        models = variants(job.models)
        found = made.find(models, read_evaluations(models, job.inputs), self.over, self.alpha)
        findings = Findings(
            type=self.type,
            title=f"Scores by {self.over}",
            summary=made.summary(found),
            tables=(made.table(found),),
            figures=made.draw(found, job.out / "figures"),
            numbers=made.numbers(found),
        )
        findings.write(job.out)
        return {"curves": len(found.curves), "points": len(found.points), "levels": len(found.levels)}
