"""Predictions of all tasks over a split, with as few passes through the encoder as the sharing strategy allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from mtlspec.data.batching import collate, sequential
from mtlspec.data.prepared import PreparedSplit
from mtlspec.metrics.metric import Counts
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.spec.models import BatchLimits

Predictions = dict[str, list[Any]]
"""task -> one prediction a sentence, in the order of the split"""


@torch.inference_mode()
def predict(model: MultiTaskModel, split: PreparedSplit, limits: BatchLimits) -> Predictions:
    """Every sentence is encoded once for all tasks, or once for each where the encoder's output depends on the task.

    The model is in evaluation mode afterwards.
    """
    model.module.eval()
    device = model.device
    found: dict[str, list[Any]] = {task.name: [None] * len(split) for task in model.tasks}
    for rows in sequential(split.piece_counts, limits.sentences, limits.tokens):
        batch = collate(split, rows, model.encoder.specials).to(device)
        places = rows.tolist()
        states = model.states(batch, 0) if model.sharing.task_free else None
        for number, task in enumerate(model.tasks):
            seen = states if states is not None else model.states(batch, number)
            for place, prediction in zip(places, task.decode(seen, batch), strict=True):
                found[task.name][place] = prediction
    return found


def count(model: MultiTaskModel, split: PreparedSplit, predictions: Mapping[str, Sequence[Any]]) -> dict[str, Counts]:
    """task -> the counts of its metric, int64 [N, K]."""
    return {task.name: task.metric.counts(task.gold_values(split), predictions[task.name]) for task in model.tasks}


def score(model: MultiTaskModel, counts: Mapping[str, Counts]) -> dict[str, dict[str, float]]:
    """task -> metric -> score of the whole split, in percent."""
    scores: dict[str, dict[str, float]] = {}
    for task in model.tasks:
        totals = counts[task.name].sum(axis=0)
        scores[task.name] = {name: float(value) for name, value in task.metric.scores(totals).items()}
    return scores


def mean_score(model: MultiTaskModel, scores: Mapping[str, Mapping[str, float]]) -> float:
    """The mean over tasks of their main scores: what checkpoints are chosen by."""
    return float(np.mean([scores[task.name][task.metric.main] for task in model.tasks]))


def flat_scores(model: MultiTaskModel, split: str, scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """`<split>/<task>/<metric>` and `<split>/mean`, as records hold them."""
    flat = {f"{split}/{task}/{name}": value for task, values in scores.items() for name, value in values.items()}
    return {**flat, f"{split}/mean": mean_score(model, scores)}
