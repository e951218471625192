"""Scores of every task under every model group, with differences to single-task learning and their significance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.demands import Comparing

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(Comparing):
    type: Literal["score_matrix"]
    baseline: str = Field(
        default="stl", description="The model group whose single-task models the others are compared with."
    )
    unit: Literal["runs", "sentences"] = Field(
        default="runs",
        description="`runs`: a difference of two ways of training must exceed the luck of seeds and of test sentences. "
        "`sentences`: trained models count as given; it shows that these sets of models differ, and no more.",
    )
    family: Literal["all", "group"] = Field(
        default="all",
        description="Comparisons that Holm's correction takes together: all of them, or those of each model group.",
    )
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="A difference is marked if its p value after Holm's correction is below this."
    )
    rounds: Annotated[int, Field(ge=100)] = Field(
        default=10_000, description="With `unit: sentences`: how often sentences are exchanged at random."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="With `unit: sentences`: seed of the exchanges.")

    def compares_runs(self) -> bool:
        return self.unit == "runs"

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _score_tables as tables
        from mtlspec.results.comparisons import Asked, ToldTests, compare
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.lengths import read_lengths
        from mtlspec.results.score_table import Matrix, scores_table
        from mtlspec.results.variants import variants

        found = variants(job.models)
        evaluations = read_evaluations(found, job.inputs)
        asked = Asked(self.baseline, self.alpha, self.unit, self.family, self.rounds, self.seed)
        comparisons = compare(found, evaluations, asked, job.progress)
        matrix = Matrix(found, evaluations, read_lengths(found, job.inputs), comparisons, asked)
        made = [scores_table(matrix)]
        if comparisons:
            made += [tables.deltas_table(matrix), tables.comparisons_table(matrix)]
        findings = Findings(
            type=self.type,
            title="Scores",
            summary=tables.summary(matrix),
            tables=tuple(made),
            figures=tables.draw(matrix, job.out / "figures"),
            numbers=ToldTests.of(comparisons, self.baseline, self.alpha, partial(tables.unequal, matrix)).stored(),
        )
        findings.write(job.out)
        significant = sum(comparison.significant for comparison in comparisons)
        return {"models": len(found), "comparisons": len(comparisons), "significant": significant}
