"""Which heads gated models use: maps of every task, and how far runs and models agree on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.demands import Demanding, Gates
from mtlspec.spec.families import Keep, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(Demanding):
    type: Literal["head_utilisation"]
    needs: ClassVar[tuple[Needed, ...]] = ("train",)
    reads_of_models: ClassVar[Keep] = "gates"
    needs_gates: ClassVar[Gates | None] = "all"
    utilisation: Literal["gate", "p_open", "expected_z"] = Field(
        default="gate",
        description="`gate`: that of evaluation; `p_open`: the probability that a drawn gate is open; `expected_z`: "
        "the mean of a drawn gate.",
    )
    draws: Annotated[int, Field(ge=20)] = Field(
        default=1000, description="How often heads are shuffled within their layers to see what chance gives."
    )
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Agreement is marked if its p value after Holm's correction is below this."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of the shuffles.")

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _utilisation as made
        from mtlspec.analyses._gates import read_gates
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        gated = read_gates(variants(job.models), job, self.utilisation)
        chance = made.Chance(self.draws, self.alpha, self.seed)
        agreements = [made.agreement(one, chance) for one in gated]
        findings = Findings(
            type=self.type,
            title="Head utilisation",
            summary=made.summary(gated, agreements, chance),
            tables=(
                made.correlation_table(gated, agreements, chance),
                made.agreement_table(gated, agreements, chance),
                made.overlap_table(gated),
            ),
            figures=made.draw(gated, self.utilisation, job.out / "figures"),
        )
        findings.write(job.out)
        return {"models": len(gated), "kept": {one.variant.slug: sum(one.kept) / len(one.kept) for one in gated}}
