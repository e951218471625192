"""Adam's state as plain tensors, for resume points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


def moments(adam: torch.optim.AdamW, parameters: Sequence[nn.Parameter]) -> dict[str, Tensor]:
    """Named by the parameter's place; parameters without a gradient so far have none."""
    states = ((i, adam.state.get(p)) for i, p in enumerate(parameters))
    return {f"{i:05d}.{key}": state[key].cpu() for i, state in states if state for key in _MOMENTS}


def load_moments(adam: torch.optim.AdamW, parameters: Sequence[nn.Parameter], tensors: Mapping[str, Tensor]) -> None:
    adam.state.clear()
    for i, parameter in enumerate(parameters):
        if f"{i:05d}.step" in tensors:
            adam.state[parameter] = {key: tensors[f"{i:05d}.{key}"].to(parameter.device, copy=True) for key in _MOMENTS}
