"""What fewer heads cost: the score of gated models against the share of heads that they keep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.demands import Comparing, Demanding, Gates
from mtlspec.spec.families import Keep, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(Comparing, Demanding):
    type: Literal["sparsity_curve"]
    needs: ClassVar[tuple[Needed, ...]] = ("train", "evaluate")
    reads_of_models: ClassVar[Keep] = "gates"
    needs_gates: ClassVar[Gates | None] = "some"
    baseline: str = Field(
        default="stl", description="The model group without gates whose single-task models have all their heads."
    )

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _sparsity as made
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        found = variants(job.models)
        curve = made.measured(found, job, self.baseline)
        findings = Findings(
            type=self.type,
            title="Sparsity",
            summary=made.summary(curve),
            tables=(made.points_table(curve),),
            figures=made.draw(curve, job.out / "figures"),
        )
        findings.write(job.out)
        return {"points": len(curve.points)}
