"""What gated models lose and gain when their closed heads are removed: scores, heads kept, work saved, speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.analyses._measured import Measured, Measurement
from mtlspec.spec.families import AnalysisOptions


class Options(AnalysisOptions):
    type: Literal["pruning_table"]
    needs: ClassVar[tuple[Literal["prepare", "encoder", "train", "evaluate"], ...]] = ("prepare", "train")
    measures: ClassVar[bool] = True
    baseline: str = Field(
        default="stl",
        description="The model group, usually without gates, whose single-task models the others are compared with.",
    )
    rounds: Annotated[int, Field(ge=1)] = Field(
        default=5, description="Timed rounds; each runs the whole, the masked and the pruned model in turn."
    )
    sentences: Annotated[int, Field(ge=1)] = Field(
        default=256, description="Test sentences of a timed round; the scores are of all."
    )


def measure(options: Options, job: Measurement) -> Measured:
    """Writes `pruning.json`."""
    from mtlspec.analyses._pruning import measure_pruning

    return measure_pruning(job, options.rounds, options.sentences)


def run(
    options: Options,
    models: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Path],
    out: Path,
    progress: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """Writes `tables/`, `figures/` and `analysis.json`; returns facts for the stage's record."""
    from mtlspec.analyses import _pruning_tables as made
    from mtlspec.analyses._findings import Findings

    del progress
    rows = made.read(models, inputs)
    findings = Findings(
        type=options.type,
        title="Pruning",
        summary=made.summary(rows, options.baseline),
        tables=(made.pruning_table(rows, options.baseline),),
        figures=made.draw(rows, out / "figures"),
    )
    findings.write(out)
    return {"models": len(rows), "pruned": sum(row.gated for row in rows)}
