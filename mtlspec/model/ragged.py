"""Lists of different lengths laid end to end, as the gold spans of a split are: the lists of a batch, at once."""

from __future__ import annotations

import torch
from torch import Tensor


def members(offsets: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """offsets int64 [N + 1], rows int64 [B] -> owner int64 [M] (0 ... B - 1) and place int64 [M] of all their items."""
    first = offsets[rows]
    counts = offsets[rows + 1] - first
    ends = counts.cumsum(0)
    owner = torch.repeat_interleave(torch.arange(len(rows)), counts)
    return owner, torch.arange(len(owner)) + (first - ends + counts)[owner]


def borders(owner: Tensor, count: int) -> Tensor:
    """The other way round: ascending owners int64 [M] of `count` lists -> offsets int64 [count + 1]."""
    return torch.searchsorted(owner, torch.arange(count + 1, device=owner.device))
