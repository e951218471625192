"""Predictions of all tasks over a split, with as few passes through the encoder as the sharing strategy allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.batching import Batch, collate, sequential
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import PreparedSplit
from mtlspec.data.transfer import to_device
from mtlspec.metrics.metric import Metric, Rows
from mtlspec.model.encoder.states import States
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.task import Task
from mtlspec.spec.models import BatchLimits

Predictions = dict[str, list[Any]]
"""task -> one prediction an example, in the order of the split; None for those that were not asked for"""


def predict_corpora(model: MultiTaskModel, corpora: Corpora, split: str, limits: BatchLimits) -> Predictions:
    """Predictions of every task on one split of its own corpus, for the tasks whose corpus has it."""
    found: Predictions = {}
    for name in dict.fromkeys(task.corpus for task in model.tasks):
        data = corpora.named(name)
        tasks = [number for number, task in enumerate(model.tasks) if task.corpus == name]
        if split in data.splits:
            found |= predict(model, data.split(split), limits, tasks)
    return {task.name: found[task.name] for task in model.tasks if task.name in found}


@torch.inference_mode()
def predict(
    model: MultiTaskModel, split: PreparedSplit, limits: BatchLimits, tasks: Sequence[int] | None = None
) -> Predictions:
    """Predictions of all tasks, or of those with some indices, for the examples that carry their annotation.

    Where no example of the split does, all are predicted. Every example is encoded once for all tasks, or once for each
    where the encoder's output depends on the task. The model is in evaluation mode afterwards.
    """
    model.module.eval()
    chosen = range(len(model.tasks)) if tasks is None else tasks
    wanted = {number: predicted_rows(model.tasks[number], split) for number in chosen}
    found: Predictions = {model.tasks[number].name: [None] * len(split) for number in chosen}
    every = torch.unique(torch.cat(list(wanted.values())))
    for part in sequential(split.lengths[every], limits.sentences, limits.tokens):
        rows = every[part]
        batch = collate(split, rows, model.encoder.specials).to(model.device)
        shared = model.read(batch.for_task(0), chosen) if model.sharing.task_free else None
        for number in chosen:
            states = shared if shared is not None else model.read(batch.for_task(number), [number])
            _decode(model.tasks[number], states, batch, rows, wanted[number], found)
    return found


def predicted_rows(task: Task, split: PreparedSplit) -> Tensor:
    """int64 [n]: the examples that a task predicts: those with its annotation or, where there is none, all."""
    rows = task.rows(split)
    return rows if len(rows) else torch.arange(len(split))


def _decode(task: Task, states: States, batch: Batch, rows: Tensor, wanted: Tensor, found: Predictions) -> None:
    """Put a task's predictions of a batch into place."""
    there = torch.isin(rows, wanted)
    if not there.all():
        index = there.nonzero().squeeze(1)
        if not len(index):
            return
        batch, rows = batch.select(index), rows[there]
        states = states.select(to_device(index, batch.pieces.device), batch.word_mask.shape[1], batch.pieces.shape[1])
    for place, prediction in zip(rows.tolist(), task.decode(states, batch), strict=True):
        found[task.name][place] = prediction


def scored_gold(task: Task, split: PreparedSplit) -> list[Any]:
    """The gold values of the examples with a task's annotation."""
    gold = task.gold_values(split)
    return [gold[row] for row in task.rows(split).tolist()]


def metric_for(task: Task, corpora: Corpora) -> Metric:
    """A task's metric, which knows what the evaluation splits have and training never saw."""
    return task.metric.knowing(corpora.of(task).unseen[task.layer])


def count(metric: Metric, task: Task, split: PreparedSplit, predictions: Sequence[Any]) -> Rows:
    """The rows of a task's metric, one for each example with its annotation: [n, K]."""
    return metric.counts(scored_gold(task, split), [predictions[row] for row in task.rows(split).tolist()])


def count_corpora(
    model: MultiTaskModel, corpora: Corpora, split: str, predictions: Mapping[str, Sequence[Any]]
) -> dict[str, Rows]:
    """task -> the rows of its metric on one split of its own corpus, for the tasks that are annotated there."""
    parts = {task: corpora.of(task).split(split) for task in model.tasks if task.name in predictions}
    return {
        task.name: count(metric_for(task, corpora), task, part, predictions[task.name])
        for task, part in parts.items()
        if len(task.rows(part))
    }


def undefined(model: MultiTaskModel, corpora: Corpora, split: str) -> dict[str, str]:
    """The tasks whose labels on one split of their own corpus give no score, whatever is predicted -> why."""
    reasons = {}
    for task in model.tasks:
        data = corpora.of(task)
        if split in data.splits and len(task.rows(data.split(split))):
            reasons[task.name] = task.metric.undefined(scored_gold(task, data.split(split)))
    return {name: why for name, why in reasons.items() if why}


def score(model: MultiTaskModel, counts: Mapping[str, Rows]) -> dict[str, dict[str, float]]:
    """task -> metric -> score of the whole split, in percent, for the tasks that were counted."""
    scores: dict[str, dict[str, float]] = {}
    for task in model.tasks:
        if task.name not in counts:
            continue
        found = task.metric.score_rows(counts[task.name])
        scores[task.name] = {name: float(value) for name, value in found.items()}
    return scores


def mean_score(model: MultiTaskModel, scores: Mapping[str, Mapping[str, float]]) -> float:
    """The mean over tasks of their main scores, where they have one: what checkpoints are chosen by."""
    return float(np.mean([scores[task.name][task.metric.main] for task in model.tasks if task.name in scores]))


def flat_scores(model: MultiTaskModel, split: str, scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """`<split>/<task>/<metric>` and, where every task has a score, `<split>/mean`, as records hold them."""
    flat = {f"{split}/{task}/{name}": value for task, values in scores.items() for name, value in values.items()}
    whole = len(scores) == len(model.tasks)
    return {**flat, **({f"{split}/mean": mean_score(model, scores)} if whole else {})}
