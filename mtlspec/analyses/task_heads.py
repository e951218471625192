"""Which heads the tasks of a model chose for themselves (`sharing: iat`): by layer, in common, and over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mtlspec.spec.demands import Demanding
from mtlspec.spec.families import Keep, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(Demanding):
    reads_heads: ClassVar[bool] = True
    type: Literal["task_heads"]
    needs: ClassVar[tuple[Needed, ...]] = ("train",)
    reads_of_models: ClassVar[Keep] = "gates"
    needs_task_heads: ClassVar[bool] = True

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`, whose `numbers` hold every set; returns facts."""
        from mtlspec.analyses import _task_heads as made
        from mtlspec.results.findings import Findings

        found = made.read(job)
        findings = Findings(
            type=self.type,
            title="Heads of tasks",
            summary=made.summary(found),
            tables=(made.layer_table(found), made.overlap_table(found)),
            figures=made.draw(found, job.out / "figures"),
            numbers=made.numbers(found),
        )
        findings.write(job.out)
        return {"models": len(found), "before_the_switch": sum(len(one.before) for one in found)}
