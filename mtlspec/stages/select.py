"""The stage `select`: decides from evaluations which tasks a model learns."""

from __future__ import annotations

from mtlspec.spec.selected import select
from mtlspec.spec.selection import write_selection
from mtlspec.stages.context import StageContext, StageResult


def run(ctx: StageContext) -> StageResult:
    """Parameters: `options`, `known`, `models`. Inputs: the evaluations of `models`, by stage."""
    selection = select(ctx.params, ctx.inputs)
    write_selection(selection.tasks, ctx.out)
    return StageResult(facts=selection.facts())
