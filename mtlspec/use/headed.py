"""A task's decoder as the head of a model of transformers: token classification, or classification of sequences."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch
from mtlspec.model.encoder.loading import quiet
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.task import Task
from mtlspec.model.tasks.classification import Classification
from mtlspec.model.tasks.regression import Regression
from mtlspec.model.tasks.tagging import Tagging


@dataclass(frozen=True)
class Headed:
    """A model of transformers that scores as a task does."""

    model: Any
    pipeline: str  # what hubs call it

    @property
    def prefix(self) -> str:
        """Of the encoder's names among its weights."""
        return f"{self.model.base_model_prefix}."


def headed(model: MultiTaskModel, task: Task) -> Headed | str:
    """It, or why there is none; whether it scores the same is for the proof."""
    from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification

    if isinstance(task, Tagging):
        if not isinstance(_linear(task), nn.Linear):
            return f"transformers has no head like the {task.decoder.type} of task '{task.name}'"
        found = _made(AutoModelForTokenClassification, model, task.tags, None)
        linears = [] if found is None else _outside(found)
        if found is None or len(linears) != 1:
            return "transformers has no token classification with one linear layer for this encoder"
        _fill(linears[0], _linear(task))
        return Headed(found, "token-classification")
    if not isinstance(task, Classification | Regression):
        kind = task.describe()["options"]["type"]
        return f"transformers has no head like the decoder of task '{task.name}' ('{kind}')"
    labels = task.labels if isinstance(task, Classification) else ["value"]
    problem = "single_label_classification" if isinstance(task, Classification) else "regression"
    found = _made(AutoModelForSequenceClassification, model, labels, problem)
    head: Any = task.module
    linears = [] if found is None else [*_pooler(found), *_outside(found)]
    own = [*([head.hidden] if head.hidden is not None else []), head.scores]
    if found is None or [_shape(one) for one in linears] != [_shape(one) for one in own] or head.pooling == "mean":
        pooling = f"`pooling: {head.pooling}`, {'no' if head.hidden is None else 'one'} hidden layer"
        return f"transformers' classifier for this encoder is not built like that of task '{task.name}' ({pooling})"
    for theirs, ours in zip(linears, own, strict=True):
        _fill(theirs, ours)
    if isinstance(task, Regression):
        with torch.no_grad():
            linears[-1].weight.mul_(task.scale)
            linears[-1].bias.mul_(task.scale).add_(task.mean)
    return Headed(found, "text-classification")


def scores(model: MultiTaskModel, task: Task, batch: Batch) -> Tensor:
    """What our own decoder gives: of a tagger for each sub-token that is a word of its own here, else of examples."""
    states = model.states(batch, 0)
    if isinstance(task, Tagging):
        tagged: Tensor = _linear(task)(states.words)
        return tagged
    if isinstance(task, Regression):
        return torch.tensor(task.decode(states, batch)).unsqueeze(1)
    found: Tensor = task.module(states, batch)
    return found


def their_scores(found: Any, task: Task, batch: Batch) -> Tensor:
    """The same from a model of transformers."""
    logits: Tensor = found(input_ids=batch.pieces, attention_mask=batch.piece_mask.long()).logits
    return logits[:, 1:-1] if isinstance(task, Tagging) else logits


def _linear(task: Tagging) -> nn.Module:
    """The scores of a tagger, where it has nothing else."""
    return task.module.get_submodule("tagger")


def _made(auto: Any, model: MultiTaskModel, labels: list[str], problem: str | None) -> Any:
    """transformers' model with the weights of our encoder and a fresh head; None if it has none."""
    encoder: Any = model.encoder
    config = deepcopy(encoder.config)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: number for number, label in enumerate(labels)}
    config.problem_type = problem
    with quiet():
        try:
            found = auto.from_config(config, dtype=torch.float32).eval()
        except ValueError:  # no such model for this architecture
            return None
    found.config.architectures = [type(found).__name__]
    lacking = found.base_model.load_state_dict(encoder.model.state_dict(), strict=False)
    return None if lacking.unexpected_keys or any("pooler" not in name for name in lacking.missing_keys) else found


def _pooler(found: Any) -> list[nn.Linear]:
    dense = getattr(getattr(found.base_model, "pooler", None), "dense", None)
    return [dense] if isinstance(dense, nn.Linear) else []


def _outside(found: Any) -> list[nn.Linear]:
    """The linear layers of the head; none if it has other parameters as well."""
    inside = {id(parameter) for parameter in found.base_model.parameters()}
    linears = [
        module
        for module in found.modules()
        if isinstance(module, nn.Linear) and module.bias is not None and id(module.weight) not in inside
    ]
    own = sum(parameter.numel() for parameter in found.parameters() if id(parameter) not in inside)
    whole = sum(module.weight.numel() + module.bias.numel() for module in linears) == own
    return linears if whole else []


def _shape(layer: nn.Linear) -> tuple[int, int]:
    return layer.in_features, layer.out_features


def _fill(theirs: nn.Linear, ours: nn.Module) -> None:
    theirs.load_state_dict(ours.state_dict())
