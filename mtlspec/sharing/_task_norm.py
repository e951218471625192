"""Layer norms whose weights depend on the task of a row."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.places import Place
from mtlspec.sharing._film import Film, Start


class Norm(NamedTuple):
    """A layer norm of an encoder; its parameters stay the encoder's."""

    weight: nn.Parameter
    bias: nn.Parameter | None
    eps: float

    def normed(self, read: Tensor) -> Tensor:
        """Mean 0 and variance 1 of every vector of [R, S, D], before any weight."""
        return nn.functional.layer_norm(read, read.shape[-1:], eps=self.eps)


def norm_at(place: Place) -> Norm | None:
    """The norm of a place; None where the layer has none there (ModernBERT's first)."""
    if isinstance(place.module, nn.Identity):
        return None
    weight, bias = getattr(place.module, "weight", None), getattr(place.module, "bias", None)
    eps = getattr(place.module, "eps", getattr(place.module, "variance_epsilon", None))
    if not isinstance(weight, nn.Parameter) or not isinstance(eps, float):
        what = type(place.module).__name__
        raise EncoderError("E986", f"the {place.name} is a '{what}', of which no weight and epsilon are known")
    return Norm(weight, bias if isinstance(bias, nn.Parameter) else None, eps)


class ConditionalNorm(nn.Module):
    """A norm [R, S, D] -> [R, S, D] of what the encoder's norm read, with weights for z [R, D].

    `released`: only the weight depends on the task, w(z) = (1 + gamma(z)) w + beta(z), and the bias is the encoder's.
    `paper`: Eq. 3 as printed, w(z) = w (1 + gamma(z)) + b with a generated bias, which starts from the encoder's b.
    """

    def __init__(self, width: int, form: Literal["released", "paper"], start: Start) -> None:
        super().__init__()
        self._form = form
        self.film = Film(width, width, start)

    def forward(self, norm: Norm, read: Tensor, z: Tensor) -> Tensor:
        factor, summand = self.film(z)
        bias = 0.0 if norm.bias is None else norm.bias
        if self._form == "released":
            weight, shift = (norm.weight * factor + summand).unsqueeze(1), bias
        else:
            weight, shift = (norm.weight * factor + bias).unsqueeze(1), (summand + bias).unsqueeze(1)
        made: Tensor = norm.normed(read) * weight + shift
        return made


class FreshConditionalNorm(nn.Module):
    """The same with a weight and a bias of its own, which start with 1 and 0."""

    def __init__(self, width: int, eps: float, form: Literal["released", "paper"], start: Start) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self._eps = eps
        self.conditional = ConditionalNorm(width, form, start)

    def forward(self, read: Tensor, z: Tensor) -> Tensor:
        made: Tensor = self.conditional(Norm(self.weight, self.bias, self._eps), read, z)
        return made
