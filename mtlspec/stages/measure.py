"""The stage `measure`: one model, or the pre-trained encoder, seen by one analysis."""

from __future__ import annotations

from pydantic import TypeAdapter

from mtlspec import kinds
from mtlspec.analyses._measured import Measured, Measurement
from mtlspec.spec.families import ANALYSES
from mtlspec.spec.models import RunOptions
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.determinism import make_deterministic


def run(ctx: StageContext) -> StageResult:
    options = ctx.params["options"]
    module = kinds.load(ANALYSES, options["type"])
    parsed = TypeAdapter(module.Options).validate_python(options)
    device = make_deterministic(0, RunOptions.model_validate(ctx.params["run"]))
    job = Measurement(ctx.params["model"], ctx.inputs, ctx.out, str(device), ctx.progress)
    measured: Measured = module.measure(parsed, job)
    return StageResult(facts=measured.facts, timings=measured.timings)
