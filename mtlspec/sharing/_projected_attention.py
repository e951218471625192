"""Projected attention: a small attention of every task and layer, between projections that a task's layers share."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from mtlspec.sharing._film import SPREAD, Start
from mtlspec.sharing._task_linear import TaskLinear


class TaskAttention(nn.Module):
    """x [R, S, d], rows int64 [R], mask bool [R, S] -> contexts [R, S, d]; attention without an output projection."""

    def __init__(self, tasks: int, width: int, heads: int, causal: bool) -> None:
        super().__init__()
        self._heads, self._causal = heads, causal
        self.inputs = TaskLinear(tasks, width, 3 * width, SPREAD)  # queries, keys and values

    def forward(self, x: Tensor, rows: Tensor, mask: Tensor) -> Tensor:
        parts = self.inputs(x, rows).unflatten(-1, (3, self._heads, -1)).permute(2, 0, 3, 1, 4)  # [3, R, heads, S, w]
        seen = mask[:, None, None, :]
        if self._causal:  # the first sub-token of a row is there always: no query is without a key
            seen = seen & torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        contexts = nn.functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], seen)
        return contexts.transpose(1, 2).flatten(2)


class ProjectedAttention(nn.Module):
    """h [R, S, D] -> gelu(decode(attention(encode(h)))), for one of several layers.

    `start: identity` begins with zeros in the projection back, so that nothing is added at first.
    """

    def __init__(self, tasks: int, width: int, size: int, start: Start, attention: Iterable[TaskAttention]) -> None:
        """`attention`: one for each layer."""
        super().__init__()
        self.encode, self.decode = TaskLinear(tasks, width, size, SPREAD), TaskLinear(tasks, size, width, SPREAD)
        if start == "identity":
            nn.init.zeros_(self.decode.weight)
        self.attention = nn.ModuleList(attention)

    def forward(self, layer: int, h: Tensor, rows: Tensor, mask: Tensor) -> Tensor:
        contexts = self.attention[layer](self.encode(h, rows), rows, mask)
        return nn.functional.gelu(self.decode(contexts, rows))
