"""The stage `measure`: what one analysis measures of one model, or of the pre-trained encoder."""

from __future__ import annotations

from mtlspec import kinds
from mtlspec.plan.rows import ModelRow
from mtlspec.results.jobs import Measurement
from mtlspec.spec.families import ANALYSES, MeasuringOptions
from mtlspec.spec.models import RunOptions
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.determinism import make_deterministic


def run(ctx: StageContext) -> StageResult:
    analysis = kinds.parse(ANALYSES, MeasuringOptions, ctx.params["options"])
    device = make_deterministic(0, RunOptions.model_validate(ctx.params["run"]))
    row = ctx.params["model"]
    model = None if row is None else ModelRow.restored(row)
    measured = analysis.measure(Measurement(model, ctx.inputs, ctx.out, str(device), ctx.progress))
    return StageResult(facts=measured.facts, timings=measured.timings)
