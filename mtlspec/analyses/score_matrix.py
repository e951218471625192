"""Scores of every task under every model group, with differences to single-task learning and their significance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.families import AnalysisOptions

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(AnalysisOptions):
    type: Literal["score_matrix"]
    baseline: str = Field(
        default="stl", description="The model group whose single-task models the others are compared with."
    )
    rounds: Annotated[int, Field(ge=100)] = Field(
        default=10_000, description="Rounds of the paired randomisation test over test sentences."
    )
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="A difference is marked if its p value after Holm's correction is below this."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of the randomisation test.")

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _score_tables as tables
        from mtlspec.results.comparisons import PairedTests, compare
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.score_table import Matrix, scores_table
        from mtlspec.results.variants import variants

        found = variants(job.models)
        evaluations = read_evaluations(found, job.inputs)
        comparisons = compare(
            found,
            evaluations,
            baseline=self.baseline,
            rounds=self.rounds,
            seed=self.seed,
            progress=job.progress,
        )
        matrix = Matrix(found, evaluations, comparisons, self.baseline, self.alpha, self.rounds)
        made = [scores_table(matrix)]
        if comparisons:
            made += [tables.deltas_table(matrix), tables.comparisons_table(matrix)]
        findings = Findings(
            type=self.type,
            title="Scores",
            summary=tables.summary(matrix),
            tables=tuple(made),
            figures=tables.draw(matrix, job.out / "figures"),
            numbers=PairedTests.of(comparisons, self.baseline, self.alpha).stored(),
        )
        findings.write(job.out)
        significant = sum(matrix.significant(comparison) for comparison in comparisons)
        return {"models": len(found), "comparisons": len(comparisons), "significant": significant}
