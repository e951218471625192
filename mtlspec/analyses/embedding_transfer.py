"""Does it matter which embedding a new task begins with? Scores by embedding and by number of training examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.spec.families import AnalysisOptions, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob


class Options(AnalysisOptions):
    """Of models of one task that start from others with `take: shared` and sweep over `sharing.embedding`, and perhaps
    over `train.examples`; others are passed over. Embeddings are compared by exchanging the scores of a seed among
    them: models of one seed start from the same model and learn from the same examples."""

    type: Literal["embedding_transfer"]
    needs: ClassVar[tuple[Needed, ...]] = ("train", "evaluate")
    rounds: Annotated[int, Field(ge=100)] = Field(default=10_000, description="Exchanges that the test draws.")
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Of the exchanges.")

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _embedding_transfer as made
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        models = [variant for variant in variants(job.models) if made.embedding_of(variant) is not None]
        found = made.transfers(models, read_evaluations(models, job.inputs), self.rounds, self.seed)
        if not found:
            hint = "sweep over `sharing.embedding` in a group of one task with `start: {group: …, take: shared}`"
            raise StageError("E949", "no model of one task says which embedding it begins with", hint=hint)
        findings = Findings(
            type=self.type,
            title="Transfer by embedding",
            summary=tuple(map(made.sentence, found)),
            tables=(made.scores_table(found), made.tests_table(found, self.rounds)),
            figures=tuple(made.draw(one, job.out / "figures") for one in found if len(one.sizes) > 1),
            numbers={"transfers": [one.numbers() for one in found]},
        )
        findings.write(job.out)
        return {"models": len(models), "tasks": len(found)}
