"""Stage `evaluate`: scores of a trained model on dev and test, the counts behind them, and its predictions on test."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mtlspec.data.prepared import Prepared
from mtlspec.io.write import write_json
from mtlspec.model.multitask import load_model
from mtlspec.model.predict import count, flat_scores, predict, score
from mtlspec.spec.cards import Split
from mtlspec.spec.models import BatchLimits, RunOptions
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.determinism import make_deterministic

SPLITS: tuple[Split, ...] = ("dev", "test")


def run(ctx: StageContext) -> StageResult:
    limits = BatchLimits.model_validate(ctx.params["batch"])
    device = make_deterministic(0, RunOptions.model_validate(ctx.params["run"]))
    data = Prepared.load(ctx.inputs["prepare"])
    model = load_model(ctx.inputs["train"]).to(device)
    started = time.perf_counter()
    predictions = {name: predict(model, data.split(name), limits) for name in SPLITS}
    seconds = time.perf_counter() - started
    counts = {name: count(model, data.split(name), found) for name, found in predictions.items()}
    scores = {name: score(model, found) for name, found in counts.items()}
    about: dict[str, Any] = {}
    for task in model.tasks:
        found = predictions["test"][task.name]
        about[task.name] = {
            "main": task.metric.main,
            "layer": task.layer,
            "columns": list(task.metric.columns),
            "labels": task.metric.label_scores(task.gold_values(data.test), found),
            **{name: values[task.name] for name, values in scores.items()},
        }
        task.write_predictions(data.test, found, ctx.out / "predictions" / f"{task.name}.{task.extension}")
    write_json(ctx.out / "scores.json", about)
    np.savez(ctx.out / "counts.npz", allow_pickle=False, **counts["test"])
    words = int(data.dev.word_counts.sum() + data.test.word_counts.sum())
    return StageResult(
        scores={
            key: value for name, values in scores.items() for key, value in flat_scores(model, name, values).items()
        },
        facts={"sentences": {"dev": len(data.dev), "test": len(data.test)}},
        timings={"predict_seconds": seconds, "tokens_per_second": words / max(seconds, 1e-9)},
    )
