"""How unsure a distribution is."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def normalised_entropy(probabilities: Tensor) -> Tensor:
    """Entropy over the last axis divided by that of the uniform distribution: [..., C] -> [...], from 0 to 1."""
    count = probabilities.shape[-1]
    if count < 2:
        return torch.zeros_like(probabilities[..., 0])
    found: Tensor = torch.special.entr(probabilities).sum(-1) / math.log(count)
    return found.clamp(0.0, 1.0)
