"""How much each head matters to each task: an atlas of heads by several methods, and whether it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.kinds import Sequence_
from mtlspec.spec.demands import Demanding, Gates
from mtlspec.spec.families import MeasuringOptions, Needed

if TYPE_CHECKING:
    from mtlspec.results.jobs import AnalysisJob, Measured, Measurement


class Options(Demanding, MeasuringOptions):
    reads_heads: ClassVar[bool] = True
    type: Literal["head_importance"]
    needs: ClassVar[tuple[Needed, ...]] = ("prepare", "train")
    methods: Sequence_[Literal["gradient", "token_abs", "ablation", "gate"]] = Field(
        default=("gradient", "ablation", "gate"),
        min_length=1,
        description="`gradient`: mean over sentences of |dL/dxi|; `token_abs`: the same with absolute values per "
        "sub-token; `ablation`: what is lost when one head is switched off; `gate`: the gate of `l0` models.",
    )
    split: Literal["train", "dev", "test"] = Field(
        default="train", description="The sentences that gradients and losses are taken of."
    )
    sentences: Annotated[int, Field(ge=1)] | None = Field(
        default=256, description="A random sample of so many of them; null: all."
    )
    seed: Annotated[int, Field(ge=0)] = Field(default=1, description="Seed of the sample.")
    ablation: Literal["loss", "score"] = Field(
        default="loss", description="`loss`: growth of the loss on the sample; `score`: drop of the main dev score."
    )
    normalise: Literal["none", "layers", "released"] = Field(
        default="none",
        description="Of gradients: `none`, as defined; `layers`: every layer to length 1; `released`: every layer but "
        "the last, as the released code of the specialisation study does.",
    )
    stable: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.5, description="Seeds, or methods, agree if their mean rank correlation is at least this."
    )

    def gates_needed(self) -> Gates | None:
        """Every other method applies to all models."""
        return "some" if set(self.methods) == {"gate"} else None

    def measure(self, job: Measurement) -> Measured:
        """Writes `heads.parquet`."""
        from mtlspec.analyses._importance import measure_importance

        return measure_importance(self, job)

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `heads.parquet`, `tables/`, `figures/` and `analysis.json`; returns facts for the record."""
        from mtlspec.analyses import _importance_tables as made
        from mtlspec.results.findings import Findings

        atlas = made.read(job)
        made.write_atlas(atlas, job.out)
        found = made.stability(atlas, self.stable)
        findings = Findings(
            type=self.type,
            title="Head importance",
            summary=made.summary(atlas, found, self.stable, gates_only=set(self.methods) == {"gate"}),
            tables=(made.stability_table(found, self.stable), made.top_table(atlas)) if found else (),
            figures=made.draw(atlas, job.out / "figures"),
        )
        findings.write(job.out)
        return {"models": len(atlas), "verdicts": made.verdict_counts(found)}
