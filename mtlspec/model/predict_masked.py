"""Predictions of all tasks without some heads, for several sets of heads at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from mtlspec.data.batching import Batch, collate, sequential
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import PreparedSplit
from mtlspec.model.encoder.maskings import Mask, Maskings
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.predict import Predictions, predicted_rows
from mtlspec.spec.models import BatchLimits


@torch.inference_mode()
def predict_masked(
    model: MultiTaskModel,
    corpora: Corpora,
    split: str,
    limits: BatchLimits,
    masks: Mask,
    wanted: Sequence[int] | None = None,
) -> list[Predictions]:
    """What `predict_corpora` finds on a split, once for each of the masks bool [K, L, H] (True: the head is off), of
    some tasks (indices) or all.

    A batch is read by all maskings together, and the limits are those of all its rows. Layers below the first one in
    which maskings differ are computed once, where the strategy leaves the encoder alone. The model is in evaluation
    mode afterwards.
    """
    model.module.eval()
    maskings = Maskings(model.encoder, masks)
    own = BatchLimits(
        sentences=max(limits.sentences // len(masks), 1), tokens=max(limits.tokens // len(masks), 1)
    )  # of the examples
    found: list[Predictions] = [{} for _ in masks]
    tasks = {number: model.tasks[number] for number in (range(len(model.tasks)) if wanted is None else wanted)}
    for name in dict.fromkeys(task.corpus for task in tasks.values()):
        data = corpora.named(name)
        if split in data.splits:
            numbers = [number for number, task in tasks.items() if task.corpus == name]
            _predict_split(model, maskings, data.split(split), own, numbers, found)
    return [{task.name: one[task.name] for task in model.tasks if task.name in one} for one in found]


def _predict_split(
    model: MultiTaskModel,
    maskings: Maskings,
    split: PreparedSplit,
    limits: BatchLimits,
    numbers: Sequence[int],
    found: Sequence[Predictions],
) -> None:
    """Put the predictions of some tasks (indices), which read the same split, into place."""
    for predictions in found:
        predictions.update({model.tasks[number].name: [None] * len(split) for number in numbers})
    every = torch.unique(torch.cat([predicted_rows(model.tasks[number], split) for number in numbers]))
    for part in sequential(split.lengths[every], limits.sentences, limits.tokens):
        rows = every[part]
        batch = collate(split, rows, model.encoder.specials).to(model.device)
        for number, predicted in _decoded(model, maskings, batch, numbers):
            for place, prediction in enumerate(predicted):
                masking, example = divmod(place, len(rows))
                found[masking][model.tasks[number].name][int(rows[example])] = prediction


def _decoded(
    model: MultiTaskModel, maskings: Maskings, batch: Batch, numbers: Sequence[int]
) -> Iterator[tuple[int, Sequence[Any]]]:
    """Each task's predictions of a batch, masking by masking."""
    repeated, limit = batch.select(maskings.rows(len(batch.rows))), model.encoder.max_pieces
    at_once = limit is None or batch.pieces.shape[1] <= limit
    with maskings.applied(len(batch.rows), share=model.sharing.plain and at_once):
        shared = model.read(repeated.for_task(0), numbers) if model.sharing.task_free else None
        for number in numbers:
            states = shared if shared is not None else model.read(repeated.for_task(number), [number])
            yield number, model.tasks[number].decode(states, repeated)
