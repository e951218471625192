"""Stage `evaluate`: scores of a trained model on test and further splits, the counts behind them, its predictions, and
its dev scores."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.data.corpora import Corpora
from mtlspec.io.write import write_json
from mtlspec.metrics.metric import Rows
from mtlspec.model.multitask import MultiTaskModel, load_model
from mtlspec.model.predict import (
    Predictions,
    count_corpora,
    flat_scores,
    metric_for,
    predict_corpora,
    score,
    scored_gold,
    undefined,
)
from mtlspec.spec.cards import SPLITS
from mtlspec.spec.models import BatchLimits, RunOptions
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.determinism import make_deterministic


@dataclass(frozen=True)
class _Evaluated:
    """One split of every task whose corpus has it; annotated tasks with a defined score have counts and scores."""

    predictions: Predictions
    counts: Mapping[str, Rows]
    scores: Mapping[str, Mapping[str, float]]
    undefined: Mapping[str, str]  # annotated tasks without a score -> why
    seconds: float  # of predicting


def run(ctx: StageContext) -> StageResult:
    limits = BatchLimits.model_validate(ctx.params["batch"])
    device = make_deterministic(0, RunOptions.model_validate(ctx.params["run"]))
    corpora = Corpora.load(ctx.inputs)
    model = load_model(ctx.inputs["train"]).to(device)
    names = ["test", *_further(model, corpora)]
    found = {}
    for done, split in enumerate(names):
        ctx.progress(done, len(names), split)
        found[split] = _evaluate(model, corpora, split, limits)
        _write_predictions(model, corpora, split, found[split].predictions, ctx.out / "predictions")
    scores = {"dev": _dev_scores(ctx.inputs["train"]), **{split: part.scores for split, part in found.items()}}
    write_json(ctx.out / "scores.json", _about(model, corpora, found, scores))
    write_json(ctx.out / "metrics.json", {task.name: metric_for(task, corpora).describe() for task in model.tasks})
    counts = {_key(split, task): rows for split, part in found.items() for task, rows in part.counts.items()}
    np.savez(ctx.out / "counts.npz", allow_pickle=False, **counts)
    read = [corpora.named(name) for name in dict.fromkeys(task.corpus for task in model.tasks)]
    parts = [data.split(split) for data in read for split in names if split in data.splits]
    unscored = {split: dict(part.undefined) for split, part in found.items() if part.undefined}
    seconds = sum(part.seconds for part in found.values())
    words = sum(int(part.word_counts.sum()) for part in parts)
    flat = {key: value for split in scores for key, value in flat_scores(model, split, scores[split]).items()}
    return StageResult(
        scores=flat,
        facts={"sentences": sum(map(len, parts)), **({"undefined": unscored} if unscored else {})},
        timings={"predict_seconds": seconds, "tokens_per_second": words / max(seconds, 1e-9)},
    )


def _further(model: MultiTaskModel, corpora: Corpora) -> list[str]:
    """The evaluation splits that corpora of the model's tasks have beside dev and test."""
    names = dict.fromkeys(split for task in model.tasks for split in corpora.of(task).splits)
    return sorted(names.keys() - set(SPLITS))


def _evaluate(model: MultiTaskModel, corpora: Corpora, split: str, limits: BatchLimits) -> _Evaluated:
    started = time.perf_counter()
    predictions = predict_corpora(model, corpora, split, limits)
    seconds = time.perf_counter() - started
    counts = count_corpora(model, corpora, split, predictions)
    unscored = undefined(model, corpora, split)
    counts = {name: rows for name, rows in counts.items() if name not in unscored}
    return _Evaluated(predictions, counts, score(model, counts), unscored, seconds)


def _write_predictions(
    model: MultiTaskModel, corpora: Corpora, split: str, predictions: Predictions, folder: Path
) -> None:
    """`<task>.<ext>` for test, `<split>/<task>.<ext>` for further splits."""
    for task in model.tasks:
        if task.name in predictions:
            data = corpora.of(task).split(split)
            path = folder / f"{_key(split, task.name)}.{task.extension_for(data)}"
            task.write_predictions(data, predictions[task.name], path)


def _key(split: str, task: str) -> str:
    """How the results of a split are called in files: those of test bear the task's name alone."""
    return task if split == "test" else f"{split}/{task}"


def _about(
    model: MultiTaskModel,
    corpora: Corpora,
    found: Mapping[str, _Evaluated],
    scores: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> dict[str, Any]:
    """What `scores.json` says of each task; a split without its annotation or a defined score is not there."""
    unscored = {"dev": undefined(model, corpora, "dev"), **{split: part.undefined for split, part in found.items()}}
    about: dict[str, Any] = {}
    for task in model.tasks:
        split = corpora.of(task).test
        predicted = [found["test"].predictions[task.name][row] for row in task.rows(split).tolist()]
        reasons = {name: whys[task.name] for name, whys in unscored.items() if task.name in whys}
        about[task.name] = {
            "main": task.metric.main,
            "layer": task.layer,
            "columns": list(metric_for(task, corpora).columns),
            "labels": task.metric.label_scores(scored_gold(task, split), predicted),
            **({"undefined": reasons} if reasons else {}),
            **{name: values[task.name] for name, values in scores.items() if task.name in values},
        }
    return about


def _dev_scores(train_artifact: Path) -> dict[str, dict[str, float]]:
    """Of the weights that were kept: training has computed them, and the same weights give the same scores."""
    epochs = json.loads((train_artifact / "epochs.json").read_bytes())
    kept: dict[str, dict[str, float]] = next(epoch for epoch in reversed(epochs) if epoch["best"])["scores"]
    return kept
