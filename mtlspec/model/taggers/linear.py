"""Independent tags: softmax over each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from mtlspec.model.tagger import UNKNOWN, Tagger
from mtlspec.spec.families import TaggerOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.metrics.schemes import Scheme


class Options(TaggerOptions):
    type: Literal["linear"]

    def build(self, width: int, tags: Sequence[str], scheme: Scheme) -> Tagger:
        del scheme
        return Linear(width, len(tags))


class Linear(Tagger):
    def __init__(self, width: int, tags: int) -> None:
        from torch import nn

        self.module = nn.Linear(width, tags)

    def loss(self, words: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """Cross-entropy, mean over the words whose tag is known."""
        from torch.nn.functional import cross_entropy

        del mask
        scores = self.module(words.flatten(0, 1)).float()
        total: Tensor = cross_entropy(scores, tags.flatten(), ignore_index=UNKNOWN, reduction="sum")
        return total / (tags != UNKNOWN).sum().clamp(min=1)

    def decode(self, words: Tensor, mask: Tensor) -> Tensor:
        del mask
        best: Tensor = self.module(words).argmax(-1)
        return best

    def probabilities(self, words: Tensor, mask: Tensor) -> Tensor:
        del mask
        found: Tensor = self.module(words).detach().float().softmax(-1)
        return found
