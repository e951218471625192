"""What every tagger offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

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
