"""Stage `evaluate`: test scores of a trained model, the counts behind them, its predictions, and its dev scores."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.data.prepared import Prepared
from mtlspec.io.write import write_json
from mtlspec.model.multitask import load_model
from mtlspec.model.predict import count, flat_scores, predict, score
from mtlspec.spec.models import BatchLimits, RunOptions
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.determinism import make_deterministic


def run(ctx: StageContext) -> StageResult:
    limits = BatchLimits.model_validate(ctx.params["batch"])
    device = make_deterministic(0, RunOptions.model_validate(ctx.params["run"]))
    data = Prepared.load(ctx.inputs["prepare"])
    model = load_model(ctx.inputs["train"]).to(device)
    started = time.perf_counter()
    predictions = predict(model, data.test, limits)
    seconds = time.perf_counter() - started
    counts = count(model, data.test, predictions)
    scores = {"dev": _dev_scores(ctx.inputs["train"]), "test": score(model, counts)}
    about: dict[str, Any] = {}
    for task in model.tasks:
        found = predictions[task.name]
        about[task.name] = {
            "main": task.metric.main,
            "layer": task.layer,
            "columns": list(task.metric.columns),
            "labels": task.metric.label_scores(task.gold_values(data.test), found),
            **{name: values[task.name] for name, values in scores.items()},
        }
        task.write_predictions(data.test, found, ctx.out / "predictions" / f"{task.name}.{task.extension}")
    write_json(ctx.out / "scores.json", about)
    np.savez(ctx.out / "counts.npz", allow_pickle=False, **counts)
    words = int(data.test.word_counts.sum())
    return StageResult(
        scores={
            key: value for name, values in scores.items() for key, value in flat_scores(model, name, values).items()
        },
        facts={"sentences": len(data.test)},
        timings={"predict_seconds": seconds, "tokens_per_second": words / max(seconds, 1e-9)},
    )


def _dev_scores(train_artifact: Path) -> dict[str, dict[str, float]]:
    """Of the weights that were kept: training has computed them, and the same weights give the same scores."""
    epochs = json.loads((train_artifact / "epochs.json").read_bytes())
    kept: dict[str, dict[str, float]] = next(epoch for epoch in reversed(epochs) if epoch["best"])["scores"]
    return kept
