"""What gated models lose and gain when their closed heads are removed: scores, heads kept, work saved, speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.demands import Comparing
from mtlspec.spec.families import MeasuringOptions, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement


class Options(Comparing, MeasuringOptions):
    reads_heads: ClassVar[bool] = True
    type: Literal["pruning_table"]
    needs: ClassVar[tuple[Needed, ...]] = ("prepare", "train")
    baseline: str = Field(
        default="stl",
        description=(
            "The model group, usually without gates, whose single-task models the others are compared with; joint "
            "models are compared with that of the same tasks without gates, if it is among `models`."
        ),
    )
    rounds: Annotated[int, Field(ge=1)] = Field(
        default=5, description="Timed rounds; each runs the whole, the masked and the pruned model in turn."
    )
    sentences: Annotated[int, Field(ge=1)] = Field(
        default=256, description="Test sentences of a timed round; the scores are of all."
    )

    def measure(self, job: Measurement) -> Measured:
        """Writes `pruning.json` and `counts.npz`."""
        from mtlspec.analyses._pruning_cost import measure_pruning

        return measure_pruning(job, self.rounds, self.sentences)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`; returns facts for the stage's record."""
        from mtlspec.analyses import _pruning_tables as made
        from mtlspec.analyses._pruning_losses import read
        from mtlspec.results.findings import Findings

        rows = read(job)
        findings = Findings(
            type=self.type,
            title="Pruning",
            summary=made.summary(rows, self.baseline),
            tables=(made.pruning_table(rows, self.baseline),),
            figures=made.draw(rows, job.out / "figures"),
            numbers=made.numbers(rows, self.baseline),
        )
        findings.write(job.out)
        return {"models": len(rows), "pruned": sum(row.gated for row in rows)}
