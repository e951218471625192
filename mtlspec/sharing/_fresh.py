"""Weights as before any training, in a layer that has learnt already."""

from __future__ import annotations

from torch import nn

from mtlspec.sharing._film import SPREAD


def begin_anew(layer: nn.Module) -> None:
    """Matrices small and random, norms with weight 1, biases 0."""
    for module in layer.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=SPREAD)
            else:
                nn.init.constant_(parameter, 1.0 if name == "weight" else 0.0)
