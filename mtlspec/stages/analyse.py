"""The stage `analyse`: hands artifacts to one analysis."""

from __future__ import annotations

from pydantic import TypeAdapter

from mtlspec import kinds
from mtlspec.spec.families import ANALYSES
from mtlspec.stages.context import StageContext, StageResult


def run(ctx: StageContext) -> StageResult:
    options = ctx.params["options"]
    module = kinds.load(ANALYSES, options["type"])
    # The options were validated when the plan was made; JSON has lists where the model has tuples.
    parsed = TypeAdapter(module.Options).validate_python(options)
    facts = module.run(parsed, ctx.params["models"], ctx.inputs, ctx.out, ctx.progress)
    return StageResult(facts=facts)
