"""Stage `evaluate`: test scores of a trained model, the counts behind them, its predictions, and its dev scores."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.data.corpora import Corpora
from mtlspec.io.write import write_json
from mtlspec.model.multitask import load_model
from mtlspec.model.predict import count_corpora, flat_scores, predict_corpora, score
from mtlspec.spec.models import BatchLimits, RunOptions
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.determinism import make_deterministic


def run(ctx: StageContext) -> StageResult:
    limits = BatchLimits.model_validate(ctx.params["batch"])
    device = make_deterministic(0, RunOptions.model_validate(ctx.params["run"]))
    corpora = Corpora.load(ctx.inputs)
    model = load_model(ctx.inputs["train"]).to(device)
    started = time.perf_counter()
    predictions = predict_corpora(model, corpora, "test", limits)
    seconds = time.perf_counter() - started
    counts = count_corpora(model, corpora, "test", predictions)
    scores = {"dev": _dev_scores(ctx.inputs["train"]), "test": score(model, counts)}
    about: dict[str, Any] = {}
    for task in model.tasks:
        found, split = predictions[task.name], corpora.of(task).test
        rows = task.rows(split).tolist()
        gold = task.gold_values(split)
        about[task.name] = {
            "main": task.metric.main,
            "layer": task.layer,
            "columns": list(task.metric.columns),
            "labels": task.metric.label_scores([gold[row] for row in rows], [found[row] for row in rows]),
            **{name: values[task.name] for name, values in scores.items()},
        }
        task.write_predictions(split, found, ctx.out / "predictions" / f"{task.name}.{task.extension}")
    write_json(ctx.out / "scores.json", about)
    write_json(ctx.out / "metrics.json", {task.name: task.metric.describe() for task in model.tasks})
    np.savez(ctx.out / "counts.npz", allow_pickle=False, **counts)
    tests = [data.test for data in corpora.values()]
    words = sum(int(test.word_counts.sum()) for test in tests)
    return StageResult(
        scores={
            key: value for name, values in scores.items() for key, value in flat_scores(model, name, values).items()
        },
        facts={"sentences": sum(map(len, tests))},
        timings={"predict_seconds": seconds, "tokens_per_second": words / max(seconds, 1e-9)},
    )


def _dev_scores(train_artifact: Path) -> dict[str, dict[str, float]]:
    """Of the weights that were kept: training has computed them, and the same weights give the same scores."""
    epochs = json.loads((train_artifact / "epochs.json").read_bytes())
    kept: dict[str, dict[str, float]] = next(epoch for epoch in reversed(epochs) if epoch["best"])["scores"]
    return kept
