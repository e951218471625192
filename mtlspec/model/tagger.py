"""What every tagger offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from mtlspec.errors import EncoderError

if TYPE_CHECKING:
    from torch import Tensor, nn

UNKNOWN = -1  # id of padding, of a word without a tag, and of a tag that training never saw


class Tagger(ABC):
    """From word vectors [B, W, D] and their mask bool [B, W] to tags."""

    module: nn.Module

    @abstractmethod
    def loss(self, words: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """Mean over the words whose tag is known []; the others are `UNKNOWN` in tags int64 [B, W]."""

    @abstractmethod
    def decode(self, words: Tensor, mask: Tensor) -> Tensor:
        """Tag ids int64 [B, W]; meaningless outside the mask."""

    @abstractmethod
    def probabilities(self, words: Tensor, mask: Tensor) -> Tensor:
        """Of each tag at each word, float32 [B, W, C], without gradient; meaningless outside the mask."""

    def borrow(self, whole: Self, columns: Tensor) -> None:
        """Compute from now on with the parameters of a tagger over more tags, of which columns int64 [C] are ours.

        That is the larger tagger with every other tag masked out, and as cheap as one of our own size.
        """
        del whole, columns
        raise EncoderError("E971", f"a tagger of type '{type(self).__name__.lower()}' cannot be shared between tasks")


def some_outputs(layer: nn.Linear, vectors: Tensor, columns: Tensor | None) -> Tensor:
    """Outputs [..., C] of a linear layer for vectors [..., D]: those of columns int64 [C], None for all."""
    if columns is None:
        every: Tensor = layer(vectors)
        return every
    from torch.nn.functional import linear

    own = columns.to(layer.weight.device)
    return linear(vectors, layer.weight[own], layer.bias[own])
