"""What every tagger offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor, nn

    from mtlspec.metrics.schemes import Scheme

UNKNOWN = -1  # id of padding, and of a tag that training never saw


class Tagger(Protocol):
    """From word vectors [B, W, D] and their mask bool [B, W] to tags."""

    @property
    def module(self) -> nn.Module: ...

    def loss(self, words: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """Mean over words []; `tags` int64 [B, W] are `UNKNOWN` on padding and where training knows no such tag."""
        ...

    def decode(self, words: Tensor, mask: Tensor) -> Tensor:
        """Tag ids int64 [B, W]; meaningless outside the mask."""
        ...


class TaggerKind(Protocol):
    """What the options of every tagger can do."""

    def build(self, width: int, tags: Sequence[str], scheme: Scheme) -> Tagger: ...
