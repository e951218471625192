"""States: what an encoder makes of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor


class Ends(NamedTuple):
    """The vectors of an example's first and last sub-token, each [B, D]."""

    first: Tensor
    last: Tensor


@dataclass(frozen=True)
class States:
    """words [B, W, D] (zero on padding); cls [B, D], the first sub-token; sep [B, D], the last; pieces [B, S, D].

    `causal`: the encoder reads from left to right, so that a sub-token knows nothing of what follows it. `windows`:
    where some example was too long to be read at once, the ends of its windows, the mean over them; `cls` and `sep`
    are then of the first and the last window alone, which have seen nothing of the others.
    """

    words: Tensor
    cls: Tensor
    sep: Tensor
    pieces: Tensor
    causal: bool = False
    windows: Ends | None = None

    @classmethod
    def of_first(cls, first: Tensor) -> States:
        """Nothing but the first sub-token's, [B, D]; what would be read of the last one is no number."""
        return cls(
            first.new_zeros(len(first), 0, first.shape[1]), first, torch.full_like(first, torch.nan), first.unsqueeze(1)
        )

    @property
    def ends(self) -> Ends:
        """What stands for a whole example."""
        return Ends(self.cls, self.sep) if self.windows is None else self.windows

    def select(self, index: Tensor, words: int, pieces: int) -> States:
        """The examples of index int64 [n] with their first `words` words and `pieces` sub-tokens."""
        return States(
            self.words.index_select(0, index)[:, :words],
            self.cls.index_select(0, index),
            self.sep.index_select(0, index),
            self.pieces.index_select(0, index)[:, :pieces],
            self.causal,
            None if self.windows is None else Ends(*(end.index_select(0, index) for end in self.windows)),
        )
