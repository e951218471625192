"""Stage `encoder`: an encoder from its source, checked to be one that can be loaded."""

from __future__ import annotations

import time

from mtlspec import kinds
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.request import Request
from mtlspec.spec.cards import DataCard, EncoderCard
from mtlspec.spec.families import SOURCES
from mtlspec.spec.models import RunOptions
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.determinism import make_deterministic


def run(ctx: StageContext) -> StageResult:
    card = EncoderCard.model_validate(ctx.params["card"])
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
    )
    started = time.perf_counter()
    facts = kinds.load(SOURCES, card.source.type).fetch(card.source, request)
    seconds = time.perf_counter() - started
    encoder = Encoder.load(ctx.out)
    sizes = {
        "type": encoder.config.model_type,
        "width": encoder.width,
        "parameters": sum(p.numel() for p in encoder.parameters()),
        "max_pieces": encoder.max_pieces,
    }
    return StageResult(facts={**facts, **sizes}, timings={"fetch_seconds": seconds})
