"""Stage `encoder`: an encoder from its source, checked to be one that can be loaded."""

from __future__ import annotations

import time
from collections.abc import Callable

from pydantic import TypeAdapter

from mtlspec.model.encoder.known_as import known_as
from mtlspec.model.encoder.request import Point, Request
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.encoders import AnEncoder, EncoderOptions
from mtlspec.spec.models import RunOptions
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.checkpoint import ResumePoints, Section
from mtlspec.train.determinism import make_deterministic
from mtlspec.train.pace import Pace
from mtlspec.train.resuming import RESUMED


class PacedPoints:
    """Resume points of pre-training, as often as they cost little."""

    def __init__(self, ctx: StageContext) -> None:
        self._points, self._pace, self._progress = ResumePoints(ctx.work, ctx.identity), Pace(None), ctx.progress

    def newest(self, updates: int) -> Point | None:
        saved = self._points.latest()
        if saved is None:
            return None
        section = saved["pretraining"]
        self._progress(section.values["update"], updates, RESUMED)
        return Point(section.values["update"], section.values["own"], section.tensors)

    def offer(self, update: int, make: Callable[[], Point]) -> None:
        if self._pace.due(update, epoch_ended=False):
            self._pace.write(lambda: self._save(make()))

    def _save(self, point: Point) -> int:
        values = {"update": point.update, "own": dict(point.values)}
        return self._points.save(point.update, {"pretraining": Section(values, point.tensors)})


def run(ctx: StageContext) -> StageResult:
    card = EncoderCard.model_validate(ctx.params["card"])
    options: EncoderOptions = TypeAdapter(AnEncoder).validate_python(ctx.params["encoder"])
    data_card = ctx.params.get("data_card")
    device = make_deterministic(0, RunOptions.model_validate(ctx.params["run"]))
    request = Request(
        name=card.name,
        out=ctx.out,
        project_root=ctx.project_root,
        inputs=ctx.inputs,
        data_card=DataCard.model_validate(data_card) if data_card else None,
        device=str(device),
        progress=ctx.progress,
        weights=options.reads_weights,
        data_cards={name: DataCard.model_validate(raw) for name, raw in ctx.params.get("data_cards", {}).items()},
        points=PacedPoints(ctx),
    )
    started = time.perf_counter()
    with known_as(ctx.out, lambda: card.source.folder(ctx.project_root)):
        facts = card.source.fetch(request)
        seconds = time.perf_counter() - started
        encoder = options.build(ctx.out)
    sizes = {
        "type": encoder.architecture,
        "width": encoder.width,
        "parameters": sum(p.numel() for p in encoder.parameters()),
        "max_pieces": encoder.max_pieces,
    }
    return StageResult(facts={**facts, **sizes}, timings={"fetch_seconds": seconds})
