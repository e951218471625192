"""States: what an encoder makes of a batch."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class States:
    """words [B, W, D] (zero on padding); cls [B, D], the first sub-token; sep [B, D], the last; pieces [B, S, D].

    `causal`: the encoder reads from left to right, so that a sub-token knows nothing of what follows it.
    """

    words: Tensor
    cls: Tensor
    sep: Tensor
    pieces: Tensor
    causal: bool = False

    def select(self, index: Tensor, words: int, pieces: int) -> States:
        """The examples of index int64 [n] with their first `words` words and `pieces` sub-tokens."""
        return States(
            self.words.index_select(0, index)[:, :words],
            self.cls.index_select(0, index),
            self.sep.index_select(0, index),
            self.pieces.index_select(0, index)[:, :pieces],
            self.causal,
        )
