"""Conditional bottlenecks: narrow layers behind a modulation by the task, on the top layer or beside all layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mtlspec.sharing._film import Modulation, Start, linear


class Bottleneck(nn.Module):
    """x [R, S, D] -> modulated by z [R, D], to a third of the width and back; linear throughout."""

    def __init__(self, width: int, start: Start, transform: bool) -> None:
        """`transform`: z goes through a linear layer of the bottleneck's own first."""
        super().__init__()
        self.transform = linear(width, width) if transform else None
        self.modulation = Modulation(width, start)
        narrow = max(width // 3, 1)
        self.down, self.up = linear(width, narrow), linear(narrow, width)

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        own = z if self.transform is None else self.transform(z)
        found: Tensor = self.up(self.down(self.modulation(x, own)))
        return found


class Mixed(nn.Module):
    """How much of a new value takes the place of an old one: all of it, or (`gated`) a learnt share from 0 on."""

    def __init__(self, gated: bool) -> None:
        super().__init__()
        self.share = nn.Parameter(torch.zeros(())) if gated else None

    def forward(self, old: Tensor, new: Tensor) -> Tensor:
        return new if self.share is None else old + self.share * (new - old)
