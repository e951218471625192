"""`mtlspec.prune`: a model whose gates said which heads it needs becomes a plain, smaller one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from torch import Tensor

from mtlspec.data.batching import Batch
from mtlspec.errors import EncoderError
from mtlspec.kinds import parse
from mtlspec.model.encoder.checked_removal import PruneReport, prune_model
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.sharing import Sharing
from mtlspec.model.task import Task
from mtlspec.spec.families import SHARING, SharingOptions


def prune(
    model: MultiTaskModel, gates: Tensor | None = None, batch: Batch | None = None
) -> tuple[MultiTaskModel, PruneReport]:
    """A copy with hard sharing and without the heads whose gate is 0; the other gates are folded into its weights.

    `gates` [L, H] are those that the model learnt, unless others are given. The copy must compute what the gated model
    computes, on `batch` or on random sub-tokens; an error if it does not.
    """
    gates = model.sharing.head_gates("gate") if gates is None else gates
    if gates is None:
        raise EncoderError("E377", "this model learnt no gates", hint="say which heads go: `gates`, [layers, heads]")
    encoder, tasks = deepcopy((model.encoder, model.tasks))
    small = _plain(model, encoder, tasks)
    return small, prune_model(small, gates, batch)


def ungated(model: MultiTaskModel) -> MultiTaskModel:
    """The very encoder and decoders of a model with hard sharing, as if its gates were open."""
    return _plain(model, model.encoder, model.tasks)


def _plain(model: MultiTaskModel, encoder: Encoder, tasks: Sequence[Task]) -> MultiTaskModel:
    if not model.sharing.task_free:
        raise EncoderError("E378", "this model reads differently for every task, and cannot become a plain one")
    options = parse(SHARING, SharingOptions, {"type": "hard"})
    plain = MultiTaskModel(encoder, Sharing(encoder, [task.name for task in tasks]), options, tasks)
    plain.module.eval()
    return plain
