"""The stage `analyse`: hands artifacts to one analysis."""

from __future__ import annotations

from mtlspec import kinds
from mtlspec.plan.rows import restored_rows
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.learnt import with_choices
from mtlspec.spec.families import ANALYSES, AnalysisOptions
from mtlspec.stages.context import StageContext, StageResult


def run(ctx: StageContext) -> StageResult:
    analysis = kinds.parse(ANALYSES, AnalysisOptions, ctx.params["options"])
    models = with_choices(restored_rows(ctx.params["models"]), ctx.inputs)
    job = AnalysisJob(models, ctx.inputs, ctx.out, ctx.progress)
    return StageResult(facts=analysis.run(job))
