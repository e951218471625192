"""What every task type and tagger promises."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mtlspec import kinds
from mtlspec.contract.promise import promise
from mtlspec.data.batching import Batch, collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.metrics.rebuild import rebuild_metric
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel, build_model, load_model
from mtlspec.model.predict import predict
from mtlspec.model.task import Task
from mtlspec.spec.families import SHARING, TASKS, SharingOptions, TaskOptions
from mtlspec.spec.models import BatchLimits

LAYERS = {"tags": "ner", "dep": "dep", "con": "con", "srl": "srl", "label": "topic", "value": "size", "choice": "odd"}
LAYERS |= {"answer": "reply", "marked": "alike"}
"""Layer kind -> the layer of the toy language that a task which reads it is tried on."""

HARD = {"type": "hard"}


def model_of(
    encoder: Path, data: Prepared, task: Mapping[str, Any], sharing: Mapping[str, Any] = HARD
) -> MultiTaskModel:
    """A fresh model of one task, `x`."""
    torch.manual_seed(3)
    options = kinds.parse(TASKS, TaskOptions, task)
    strategy = kinds.parse(SHARING, SharingOptions, sharing)
    return build_model(Encoder.load(encoder), strategy, {"x": options}, Corpora.single(data).labels({"x": options}))


def check_task(task: Mapping[str, Any], encoder: Path, data: Prepared, folder: Path) -> None:
    """It learns, all of its parameters do, it predicts and scores, and it comes back from disk as it was."""
    model = model_of(encoder, data, task)
    (built,) = model.tasks
    gold = built.encode(data.train)
    _learn(model, built, collate(data.train, built.rows(data.train)[:8], data.specials), gold)
    model.module.eval()
    (predicted,) = predict(model, data.dev, BatchLimits()).values()
    _check_metric(built, data, predicted)
    written = folder / f"x.{built.extension_for(data.dev)}"
    built.write_predictions(data.dev, predicted, written)
    promise(written.stat().st_size > 0, "it writes an empty file of predictions")
    (folder / "saved").mkdir()
    model.save(folder / "saved", tokenizer=encoder)
    (again,) = predict(load_model(folder / "saved"), data.dev, BatchLimits()).values()
    promise(again == predicted, "it predicts otherwise when it comes back from disk")


def _learn(model: MultiTaskModel, task: Task, batch: Batch, gold: Any) -> None:
    optimiser = torch.optim.Adam(model.module.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        loss = task.loss(model.states(batch, 0), batch, gold)
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        idle = [name for name, parameter in task.module.named_parameters() if parameter.grad is None]
        promise(not idle, f"no gradient reaches {', '.join(idle)}")
        optimiser.step()
    promise(losses[-1] < losses[0], f"eight updates on one batch take its loss from {losses[0]} to {losses[-1]}")


def _check_metric(task: Task, data: Prepared, predicted: list[Any]) -> None:
    metric, truth = task.metric, task.gold_values(data.dev)
    promise(len(predicted) == len(truth) == len(data.dev), "not one prediction and one gold value an example")
    counts = metric.counts(truth, predicted)
    promise(counts.shape == (len(data.dev), len(metric.columns)), f"its metric counts in the shape {counts.shape}")
    perfect = float(metric.score_rows(metric.counts(truth, truth))[metric.main])
    promise(math.isclose(perfect, 100.0), f"gold predictions score {perfect}, not 100")
    again = rebuild_metric(json.loads(json.dumps(metric.describe())))
    promise(again.score_rows(counts) == metric.score_rows(counts), "its metric scores otherwise when it is rebuilt")
    nobody = again.exchange(counts, counts, np.arange(3))(np.ones((2, 3), np.uint8)).tolist()
    promise(nobody == [0.0, 0.0], "exchanging examples of two equal models makes a difference")


def check_uncertainty(task: Mapping[str, Any], encoder: Path, data: Prepared) -> None:
    """It says how unsure it is of an example, as a share, or that it does not say so (E470)."""
    model = model_of(encoder, data, task)
    model.module.eval()
    batch = collate(data.train, torch.arange(5), data.specials)
    try:
        found = model.tasks[0].uncertainty(model.states(batch, 0), batch)
    except StageError as error:
        promise(error.code == "E470", str(error))
        return
    promise(found.shape == (5,), f"how unsure it is of five examples has the shape {tuple(found.shape)}")
    promise(not found.requires_grad, "how unsure it is has a gradient")
    promise(bool(((found >= 0) & (found <= 1)).all()), "how unsure it is does not lie between 0 and 1")
