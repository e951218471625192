"""Few-shot transfer: models that start from others and learn from few examples, group by group and size by size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.families import AnalysisOptions

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(AnalysisOptions):
    type: Literal["few_shot"]
    baseline: str | None = Field(
        default=None, description="The group that the others are compared with. Default: the first of the analysis."
    )
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="A difference is marked if its p value is below this."
    )
    correction: Literal["holm", "none"] = Field(
        default="holm",
        description="Whether p values are corrected for the number of comparisons (Holm). Papers often do not: `none`.",
    )
    test: Literal["default", "bootstrap"] = Field(
        default="default",
        description=(
            "Of pairs of seeds: the test of all comparisons here, which knows seeds and test examples; or the paper's "
            "bootstrap, which errs in more than 5 % of the cases (docs/statistics.md)."
        ),
    )
    rounds: Annotated[int, Field(ge=1000)] = Field(default=10_000, description="Of the bootstrap.")
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Of the bootstrap.")

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json`, whose `numbers` hold every comparison; returns facts."""
        from mtlspec.analyses import _few_shot as made
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        models = variants(job.models)
        rounds = self.rounds if self.test == "bootstrap" else None
        asked = made.Asked(self.baseline, self.alpha, self.correction == "holm", rounds, self.seed)
        found = made.find(models, read_evaluations(models, job.inputs), asked)
        findings = Findings(
            type=self.type,
            title="Few-shot transfer",
            summary=made.summary(found),
            tables=(made.scores_table(found), *made.comparisons_tables(found)),
            figures=made.draw(found, job.out / "figures"),
            numbers=made.numbers(found),
        )
        findings.write(job.out)
        return {"models": len(models), "comparisons": len(found.comparisons), "significant": found.significant}
