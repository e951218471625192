"""Packing: sequences of several lengths laid end to end without padding, step by step, the longest first."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Packing(NamedTuple):
    """B sequences with T steps in all; `sizes[n]` of them have a step n, and their rows stand together.

    Of T rows, `source` int64 [T] says where each stands in the padded [B, N], flattened. `first` and `last` int64 [B]
    are the rows of each sequence's ends. Rows from B on have a step before theirs, in the rows `before` int64 [T - B].
    """

    sizes: list[int]
    source: Tensor
    first: Tensor
    last: Tensor
    before: Tensor

    @classmethod
    def of(cls, lengths: Tensor) -> Packing:
        """Of sequences of lengths int64 [B], each at least 1."""
        order = lengths.argsort(descending=True, stable=True)
        steps = torch.arange(int(lengths.max()), device=lengths.device)
        there = steps.unsqueeze(1) < lengths[order]  # [N, B]
        sizes = there.sum(1)
        starts = sizes.cumsum(0) - sizes
        step, rank = there.nonzero(as_tuple=True)
        first = torch.empty_like(order).scatter_(0, order, torch.arange(len(order), device=order.device))
        late, inner = step[len(order) :], rank[len(order) :]
        return cls(
            sizes.tolist(),
            order[rank] * len(steps) + step,
            first,
            starts[lengths - 1] + first,
            starts[late - 1] + inner,
        )
