"""The stem cell hypothesis in numbers: heads that several tasks use, and what training makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.analyses._probes.options import ProbeOptions
from mtlspec.kinds import Sequence_
from mtlspec.spec.demands import Demanding, Gates, ReadsFrom
from mtlspec.spec.families import Keep, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(Demanding):
    """`models` names the groups of single-task models with head gates (`sharing: l0`)."""

    type: Literal["stem_cells"]
    needs: ClassVar[tuple[Needed, ...]] = ("train",)
    reads_of_models: ClassVar[Keep] = "gates"
    needs_gates: ClassVar[Gates | None] = "all"
    single_task: ClassVar[bool] = True
    least_tasks: ClassVar[str | None] = "tasks_at_least"
    reads_from: ClassVar[ReadsFrom] = {"probes": ProbeOptions}
    groups_read: ClassVar[tuple[str, ...]] = ("single", "joint")
    probes: Sequence_[str] = Field(
        min_length=1, description="Analyses above this one, of the types `attention_probe` and `attended_value_probe`."
    )
    tasks_at_least: Annotated[int, Field(ge=2)] = Field(
        default=3, description="A head is a stem cell if at least this many tasks keep it."
    )
    single: str = Field(default="stl", description="The group of single-task models, among those that were probed.")
    joint: str = Field(default="mtl", description="The group of models of all tasks, among those that were probed.")
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Level of the tests against chance and random sets, and of the intervals over seeds."
    )
    matters: Annotated[float, Field(ge=0)] = Field(
        default=2.0,
        description="Points of probing accuracy by which stem cells must differ from other heads to matter: where a"
        " one-sided test over seeds finds less, the claim is refuted. 0 leaves that open.",
    )
    draws: Annotated[int, Field(ge=20)] = Field(
        default=2000, description="How many random sets with as many heads in every layer stem cells are compared with."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of the random sets.")

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _stem_tables as tables
        from mtlspec.analyses._gates import read_gates
        from mtlspec.analyses._stem_cells import common_heads
        from mtlspec.analyses._stem_claims import claims, verdict
        from mtlspec.analyses._stem_probes import read_probed
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        single = [variant for variant in variants(job.models) if variant.is_single]
        gated = read_gates(single, job, "gate")
        common = common_heads(gated, self.tasks_at_least, self.draws, self.seed)
        probed = [
            one for name in self.probes for one in read_probed(job.inputs[f"analyse-{name}"], self.single, self.joint)
        ]
        made = claims(common, probed, self.alpha, self.matters, self.draws, self.seed)
        judged = verdict(made)
        stem = int(common.stem.sum())
        changes = tables.changes(probed, common) if 0 < stem < int(common.there.sum()) else ()
        findings = Findings(
            type=self.type,
            title="Stem cells",
            summary=tables.summary(judged, made, probed, self.matters),
            tables=(
                tables.claims_table(made, self.alpha, self.matters),
                tables.changes_table(changes),
                tables.heads_table(common),
            ),
            figures=tables.draw(common, changes, job.out / "figures"),
            numbers={"verdict": judged, "claims": [claim.stored() for claim in made]},
        )
        findings.write(job.out)
        return {"verdict": judged, "stem_cells": stem, "tasks": list(common.tasks)}
