"""Scores of every task under every model group, with differences to single-task learning and their significance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.families import AnalysisOptions


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


def run(
    options: Options,
    models: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Path],
    out: Path,
    progress: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
    from mtlspec.analyses import _score_tables as tables
    from mtlspec.analyses._comparison import compare
    from mtlspec.analyses._findings import Findings
    from mtlspec.analyses._scores import Evaluation
    from mtlspec.analyses._variants import variants

    found = variants(models)
    evaluations = {run.stage: Evaluation.read(inputs[run.stage]) for variant in found for run in variant.runs}
    comparisons = compare(
        found,
        evaluations,
        baseline=options.baseline,
        rounds=options.rounds,
        seed=options.seed,
        progress=progress,
    )
    matrix = tables.Matrix(found, evaluations, comparisons, options.baseline, options.alpha, options.rounds)
    made = [tables.scores_table(matrix)]
    if comparisons:
        made += [tables.deltas_table(matrix), tables.comparisons_table(matrix)]
    findings = Findings(
        type=options.type,
        title="Scores",
        summary=tables.summary(matrix),
        tables=tuple(made),
        figures=tables.draw(matrix, out / "figures"),
    )
    findings.write(out)
    significant = sum(matrix.significant(comparison) for comparison in comparisons)
    return {"models": len(found), "comparisons": len(comparisons), "significant": significant}
