"""Models with `sharing: iat` in training, and what of their heads moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.multitask import build_model
from mtlspec.sharing.iat import Options
from mtlspec.spec.families import TASKS
from mtlspec.spec.models import RunOptions, TrainOptions
from mtlspec.train.determinism import make_deterministic
from mtlspec.train.loop import Meter, take_update
from mtlspec.train.state import TrainState
from tests import toy

LATE = 0.8  # a `delta` with which the switch of an epoch of the toy tasks comes after some updates
Parts = dict[tuple[int, int, str], Tensor]
"""(layer, head, name) -> a part of a parameter or of Adam's moments"""


def training_options(**train: Any) -> TrainOptions:
    return TrainOptions.model_validate(toy.train_params(**{"epochs": 1, **train})["train"])


def state_of(
    encoder: Path, data: Prepared, sharing: Mapping[str, Any], train: Mapping[str, Any] | None = None, seed: int = 1
) -> TrainState:
    """A training of three tasks that has not begun."""
    make_deterministic(seed, RunOptions())
    tasks: Any = {
        name: options_class(TASKS, "tagging").model_validate(toy.TASKS[name]) for name in ("pos", "names", "ner")
    }
    strategy = Options.model_validate({"type": "iat", **sharing})
    corpora = Corpora.single(data)
    model = build_model(Encoder.load(encoder), strategy, tasks, corpora.labels(tasks))
    model.module.train()
    return TrainState.fresh(model, corpora, training_options(**(train or {})), RunOptions(), seed=seed)


def advance(
    state: TrainState, updates: int, train: Mapping[str, Any], context: AbstractContextManager[None] | None = None
) -> set[int]:
    """Take updates; the tasks of the last one."""
    for _ in range(updates):
        take_update(state, training_options(**train), context or nullcontext(), Meter())
    return tasks_of(state)


def tasks_of(state: TrainState) -> set[int]:
    """Of the last update."""
    rows = state.history.tensors()
    return {int(task) for task, at in zip(rows["task"], rows["update"], strict=True) if at == state.update}


def parts(heads: Heads, adam: torch.optim.Optimizer, roles: Sequence[str] = ()) -> Parts:
    """Copies of what belongs to heads, and of Adam's moments of it; by default of all but the output projection."""
    found: Parts = {}
    for layer, count in enumerate(heads.counts):
        for part in heads.slices(layer):
            if part.role == "output" and "output" not in roles:
                continue
            state = adam.state.get(part.parameter, {})
            tensors = {"value": part.parameter.detach()}
            tensors |= {key: state.get(key, torch.zeros_like(part.parameter)) for key in ("exp_avg", "exp_avg_sq")}
            for head in range(count):
                for key, tensor in tensors.items():
                    own = tensor.narrow(part.axis, part.starts[head], part.width)
                    found[layer, head, f"{part.role} {part.name} {key}"] = own.clone()
    return found


def with_gradients(heads: Heads) -> set[tuple[int, int]]:
    """Heads whose queries, keys or values have a gradient that is not zero."""
    found = set()
    for layer, count in enumerate(heads.counts):
        for part in (part for part in heads.slices(layer) if part.role != "output"):
            assert part.parameter.grad is not None
            for head in range(count):
                if part.parameter.grad.narrow(part.axis, part.starts[head], part.width).any():
                    found.add((layer, head))
    return found


def moved(before: Parts, after: Parts, key: str = "value") -> set[tuple[int, int]]:
    """Heads of which some part of this kind is not the same bits."""
    return {
        (layer, head)
        for (layer, head, name), value in before.items()
        if name.endswith(f" {key}") and not torch.equal(value, after[layer, head, name])
    }


def chosen(mask: Tensor) -> set[tuple[int, int]]:
    """The heads of bool [L, H]."""
    return {(int(layer), int(head)) for layer, head in mask.nonzero().tolist()}
