"""The stem cell hypothesis in numbers: heads that several tasks use, and what training makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.analyses._probes.options import ProbeOptions
from mtlspec.kinds import Sequence_
from mtlspec.spec.demands import Demanding, Gates, ReadsFrom
from mtlspec.spec.families import Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(Demanding):
    """`models` names the groups of single-task models with head gates (`sharing: l0`)."""

    type: Literal["stem_cells"]
    needs: ClassVar[tuple[Needed, ...]] = ("train",)
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
        default=0.05, description="Level of the test against chance, and of the intervals over seeds."
    )
    draws: Annotated[int, Field(ge=20)] = Field(
        default=2000, description="How often each task's heads are shuffled within layers to see what chance gives."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of the shuffles.")

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _stem_tables as tables
        from mtlspec.analyses._gates import read_gates
        from mtlspec.analyses._stem_cells import claims, common_heads, probe_changes, verdict
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        single = [variant for variant in variants(job.models) if variant.is_single]
        gated = read_gates(single, job, "gate")
        common = common_heads(gated, self.tasks_at_least, self.draws, self.seed)
        changes = [
            change
            for name in self.probes
            for change in probe_changes(job.inputs[f"analyse-{name}"], common.stem, self.single, self.joint)
        ]
        made = claims(common, changes, self.alpha)
        judged = verdict(made)
        findings = Findings(
            type=self.type,
            title="Stem cells",
            summary=tables.summary(judged, made, changes),
            tables=(tables.claims_table(made, self.alpha), tables.changes_table(changes), tables.heads_table(common)),
            figures=tables.draw(common, changes, job.out / "figures"),
        )
        findings.write(job.out)
        return {"verdict": judged, "stem_cells": int(common.stem.sum()), "tasks": list(common.tasks)}
