"""A trained model without its strategy: a plain encoder and decoders that say the same, or one line why not."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor

from mtlspec.errors import SpecError
from mtlspec.kinds import parse
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.removal import fold, kept_heads
from mtlspec.model.encoder.transformer import Transformer
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.sharing import Sharing
from mtlspec.model.task import Task
from mtlspec.spec.families import SHARING, SharingOptions


def plain_model(model: MultiTaskModel, tasks: Sequence[str]) -> MultiTaskModel:
    """A copy with hard sharing and some of the tasks; gates of heads are folded into its weights.

    The encoder keeps its shape, because transformers knows no encoder without some heads: a head whose gate is closed
    gives zeros.
    """
    gates = model.sharing.head_gates("gate")
    if not model.sharing.task_free or (gates is None and not model.sharing.plain):
        message = "its strategy changes what the encoder computes, so it cannot leave mtlspec as a plain encoder"
        raise SpecError("E554", message, None, "`mtlspec predict` reads its folder")
    if not isinstance(model.encoder, Transformer):
        message = f"an encoder of type '{model.encoder.options.type}' is no model of transformers"
        raise SpecError("E555", message, None, "`mtlspec predict` reads its folder")
    if kept_heads(model.encoder.config) is not None:
        message = "heads were removed from this encoder, and transformers builds none without them"
        raise SpecError("E556", message, None, "export the model as it was trained")
    encoder, own = deepcopy((model.encoder, [task for task in model.tasks if task.name in tasks]))
    if gates is not None:
        _fold(encoder, gates)
    return assembled(encoder, own)


def assembled(encoder: Encoder, tasks: Sequence[Task]) -> MultiTaskModel:
    """An encoder and decoders with hard sharing, in evaluation mode."""
    options = parse(SHARING, SharingOptions, {"type": "hard"})
    model = MultiTaskModel(encoder, Sharing(encoder, [task.name for task in tasks]), options, tasks)
    model.module.eval()
    return model


def _fold(encoder: Encoder, gates: Tensor) -> None:
    """Multiply every head's part of the output projection by its gate, [L, H]."""
    gates = gates.detach().cpu()
    for site in encoder.heads.sites:
        own = gates[site.layers[0], : site.heads]
        if any(not torch.equal(gates[layer, : site.heads], own) for layer in site.layers):
            message = "layers that share their parameters have gates that differ"
            raise SpecError("E557", message, None, "`mtlspec predict` reads the model's folder")
        fold(site, own)
