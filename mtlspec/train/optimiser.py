"""The optimiser: fused Adam over parameter groups with learning rates of their own; its state as plain tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from mtlspec.model.moments import load_moments, moments
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.sharing import ParameterGroup
from mtlspec.spec.models import TrainOptions
from mtlspec.train.numbers import number

if TYPE_CHECKING:
    from mtlspec.train.numbers import Number


class Optimiser:
    """AdamW, which is Adam where weight decay is 0; decay applies to matrices, never to biases and norms."""

    def __init__(self, groups: Iterable[ParameterGroup], options: TrainOptions) -> None:
        settings = [part for group in groups for part in _split(group, options.weight_decay)]
        self.adam = torch.optim.AdamW(settings, lr=1.0, eps=options.eps, fused=True)
        self._groups = self.adam.param_groups
        self.parameters: list[nn.Parameter] = [p for group in self._groups for p in group["params"]]

    def set_rates(self, factor: float) -> None:
        for group in self._groups:
            group["lr"] = group["base"] * factor if group["scheduled"] else group["base"]

    def rate(self, name: str) -> float:
        """The current learning rate of a group; 0 if nothing in it is trained."""
        return next((group["lr"] for group in self._groups if group["name"] == name), 0.0)

    def clip(self, limit: float | None) -> Number:
        """Scale gradients down to a global norm of at most `limit`; returns the norm they had.

        Groups that are not clipped stand outside: they neither lower the others' gradients nor are lowered with them.
        """
        clipped = [p for group in self._groups if group["clipped"] for p in group["params"] if p.grad is not None]
        total = nn.utils.get_total_norm([p.grad for p in clipped if p.grad is not None])
        norm = number(total)
        known_small = isinstance(norm, float) and limit is not None and norm <= limit  # then scaling changes nothing
        if limit is not None and not known_small:
            nn.utils.clip_grads_with_norm_(clipped, limit, total)
        return norm

    def tensors(self) -> dict[str, Tensor]:
        return moments(self.adam, self.parameters)

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        load_moments(self.adam, self.parameters, tensors)


def parameter_groups(
    model: MultiTaskModel, balance: nn.Module, options: TrainOptions, updates: int
) -> list[ParameterGroup]:
    """Encoder, decoders (with the parameters of balancing and sharing), then the sharing strategy's own groups."""
    own = model.sharing.groups(updates)
    taken = {id(p) for group in own for p in group.parameters}

    def rest(*modules: nn.Module) -> tuple[nn.Parameter, ...]:
        found: list[nn.Parameter] = []
        for parameter in (p for module in modules for p in module.parameters()):
            if parameter.requires_grad and id(parameter) not in taken:
                taken.add(id(parameter))
                found.append(parameter)
        return tuple(found)

    strategy = rest(model.sharing.module)  # first, because its modules may also be reachable through the encoder
    encoder = rest(model.encoder)
    decoders = rest(*(task.module for task in model.tasks), balance)
    groups = [
        ParameterGroup("encoder", encoder, options.lr.encoder, scheduled=True),
        ParameterGroup("decoder", (*decoders, *strategy), options.lr.decoder, scheduled=True),
        *own,
    ]
    return [group for group in groups if group.parameters]


def _split(group: ParameterGroup, decay: float) -> list[dict[str, object]]:
    """A group's settings for torch; two of them where weight decay tells matrices from vectors."""
    base = {"name": group.name, "base": group.lr, "lr": group.lr, "weight_decay": 0.0}
    base |= {"scheduled": group.scheduled, "clipped": group.clipped}
    if decay == 0 or not group.decayed:
        return [{**base, "params": list(group.parameters)}]
    matrices = [p for p in group.parameters if p.ndim > 1]
    vectors = [p for p in group.parameters if p.ndim <= 1]
    parts = [{**base, "params": matrices, "weight_decay": decay}, {**base, "params": vectors}]
    return [part for part in parts if part["params"]]
