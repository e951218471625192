"""How unsure a model is of examples that it has not been trained on yet: what samplers choose by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from mtlspec.data.batching import sequential
from mtlspec.model.mixed import Reading, encode_parts
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.spec.models import BatchLimits


@torch.no_grad()
def uncertainty(model: MultiTaskModel, readings: Sequence[Reading], limits: BatchLimits) -> list[Tensor]:
    """For each reading its examples' uncertainty, float32 [n] from 0 (sure) to 1, on the CPU.

    The examples of all tasks are sorted by length and encoded together, as many at a time as `limits.tokens` allows.
    Parameters, gradients, modes and random generators are afterwards as they were.
    """
    found = [torch.empty(len(reading.rows)) for reading in readings]
    owner = torch.repeat_interleave(torch.arange(len(readings)), torch.tensor([len(r.rows) for r in readings]))
    place = torch.cat([torch.arange(len(reading.rows)) for reading in readings])
    lengths = torch.cat([reading.split.lengths[reading.rows] for reading in readings])
    with _evaluating(model):
        for chunk in sequential(lengths, len(lengths), limits.tokens):
            members = {number: place[chunk[owner[chunk] == number]] for number in sorted(set(owner[chunk].tolist()))}
            parts = [_completed(model, readings[number], own) for number, own in members.items()]
            encoded = encode_parts(model, parts)
            for (number, own), (states, batch) in zip(members.items(), encoded, strict=True):
                task = model.tasks[readings[number].task]
                found[number][own] = task.uncertainty(states, batch)[: len(own)].float().cpu()
    return found


def _completed(model: MultiTaskModel, reading: Reading, own: Tensor) -> Reading:
    """Some examples of a reading, and behind them those that its task must read in the same batch."""
    return reading._replace(rows=model.tasks[reading.task].completed(reading.split, reading.rows[own]))


@contextmanager
def _evaluating(model: MultiTaskModel) -> Iterator[None]:
    """Evaluation mode; afterwards every module's mode and every generator are as before."""
    modes = [(module, module.training) for module in model.module.modules()]
    with torch.random.fork_rng([model.device] if model.device.type == "cuda" else []):
        model.module.eval()
        try:
            yield
        finally:
            for module, mode in modes:
                module.training = mode
