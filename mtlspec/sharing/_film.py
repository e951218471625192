"""Feature-wise linear modulation: factors and summands that are generated from a task embedding."""

from __future__ import annotations

from typing import Literal

from torch import Tensor, nn

Start = Literal["identity", "released"]
SPREAD = 0.02
"""Standard deviation of weights that start at random, as in BERT."""


class Film(nn.Module):
    """z [R, D] -> (1 + gamma(z), beta(z)), each [R, size]; one linear layer makes both.

    `identity`: it starts with factors of 1 and summands of 0, whatever z is. `released`: near that, at random.
    """

    def __init__(self, width: int, size: int, start: Start) -> None:
        super().__init__()
        self.generator = linear(width, 2 * size)
        if start == "identity":
            nn.init.zeros_(self.generator.weight)

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        gamma, beta = self.generator(z).chunk(2, -1)
        return 1 + gamma, beta


class Modulation(nn.Module):
    """x [R, S, D] -> (1 + gamma(z)) x + beta(z), with z [R, D]."""

    def __init__(self, width: int, start: Start) -> None:
        super().__init__()
        self.film = Film(width, width, start)

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        factor, summand = self.film(z)
        modulated: Tensor = x * factor.unsqueeze(1) + summand.unsqueeze(1)
        return modulated


class MatrixModulation(nn.Module):
    """x [R, S, D] -> x R(z), where R(z) = R (1 + gamma(z)) + beta(z) and R starts as the identity.

    gamma and beta have one number for each column of R, so that no matrix is made for any row.
    """

    def __init__(self, width: int, start: Start) -> None:
        super().__init__()
        self.matrix = nn.Linear(width, width, bias=False)
        nn.init.eye_(self.matrix.weight)
        self.film = Film(width, width, start)

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        factor, summand = self.film(z)
        # every row of R(z) has the same summands: they meet the sum of what is multiplied with it
        aligned: Tensor = self.matrix(x) * factor.unsqueeze(1) + x.sum(-1, keepdim=True) * summand.unsqueeze(1)
        return aligned


def linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer with small random weights and no bias at the start."""
    made = nn.Linear(inputs, outputs)
    nn.init.normal_(made.weight, std=SPREAD)
    nn.init.zeros_(made.bias)
    return made
