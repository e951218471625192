"""Hard-concrete gates: random numbers in [0, 1] that are often exactly 0 or 1, and differentiable in their parameter.

A gate has one parameter a ("log alpha"). A logistic variable with temperature `beta` is stretched to (low, high) and
clipped to [0, 1], so that both ends have probability. Everything here is pure mathematics over tensors of any shape.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

OPEN = 2.5  # the parameter of a gate that starts (almost) open
_NODES = 64  # of the quadrature behind `expected`


@dataclass(frozen=True)
class HardConcrete:
    """The shape that all gates of a model share."""

    beta: float = 0.33
    low: float = -0.1
    high: float = 1.1
    eps: float = 1e-6

    def of_uniform(self, a: Tensor, u: Tensor) -> Tensor:
        """The gate that a uniform number in (0, 1) stands for."""
        return self._stretch(torch.sigmoid((torch.log(u) - torch.log1p(-u) + a) / self.beta))

    def draw(self, a: Tensor) -> Tensor:
        """One random gate for each parameter, from torch's global generator."""
        u = torch.rand(a.shape, dtype=a.dtype, device=a.device)
        return self.of_uniform(a, self.eps + (1 - 2 * self.eps) * u)

    def evaluation(self, a: Tensor) -> Tensor:
        """The gate of a finished model: without noise and temperature, often a fraction."""
        return self._stretch(torch.sigmoid(a))

    def p_open(self, a: Tensor) -> Tensor:
        """The probability that a drawn gate is not 0: the expected L0 norm. It is not the expected gate."""
        return torch.sigmoid(a - self.beta * math.log(-self.low / self.high))

    def expected(self, a: Tensor) -> Tensor:
        """The mean of a drawn gate: the integral over t in [0, 1] of P(gate > t), by Gauss-Legendre quadrature."""
        import numpy as np

        points, weights = np.polynomial.legendre.leggauss(_NODES)
        t = torch.from_numpy((points + 1) / 2)
        share = (t - self.low) / (self.high - self.low)
        above = torch.sigmoid(a.double().cpu().unsqueeze(-1) - self.beta * torch.logit(share))
        return (above @ torch.from_numpy(weights / 2)).to(a)

    def boundary(self, gate: float) -> float:
        """The parameter whose evaluation gate is `gate`, for 0 <= gate <= 1; below that of 0, a gate is closed."""
        share = (gate - self.low) / (self.high - self.low)
        return math.log(share / (1 - share))

    def _stretch(self, s: Tensor) -> Tensor:
        return (s * (self.high - self.low) + self.low).clamp(0, 1)


def half_open(layers: int, heads: int) -> Tensor:
    """Random parameters around 0, [layers, heads]: Xavier's uniform distribution on a (1, heads, 1, 1) tensor."""
    bound = math.sqrt(6 / (heads + 1))
    return torch.empty(layers, heads).uniform_(-bound, bound)
