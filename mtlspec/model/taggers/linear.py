"""Independent tags: softmax over each word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

from mtlspec.model.tagger import UNKNOWN, Tagger, some_outputs
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

        self._linear = nn.Linear(width, tags)
        self.module = self._linear
        self._columns: Tensor | None = None  # those of the linear layer that are ours; None: all

    def borrow(self, whole: Self, columns: Tensor) -> None:
        self._linear, self.module, self._columns = whole._linear, whole.module, columns

    def loss(self, words: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """Cross-entropy, mean over the words whose tag is known."""
        from torch.nn.functional import cross_entropy

        del mask
        scores = some_outputs(self._linear, words.flatten(0, 1), self._columns).float()
        total: Tensor = cross_entropy(scores, tags.flatten(), ignore_index=UNKNOWN, reduction="sum")
        return total / (tags != UNKNOWN).sum().clamp(min=1)

    def decode(self, words: Tensor, mask: Tensor) -> Tensor:
        del mask
        best: Tensor = some_outputs(self._linear, words, self._columns).argmax(-1)
        return best

    def probabilities(self, words: Tensor, mask: Tensor) -> Tensor:
        del mask
        found: Tensor = some_outputs(self._linear, words, self._columns).detach().float().softmax(-1)
        return found
