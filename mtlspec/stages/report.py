"""The stage `report`: artifacts in, one page out."""

from __future__ import annotations

from mtlspec.report.build import build_report
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.track.environment import environment


def run(ctx: StageContext) -> StageResult:
    threads = int(ctx.params["spec"]["run"]["threads"])
    return StageResult(facts=build_report(ctx.params, ctx.inputs, environment(threads), ctx.out, ctx.progress))
