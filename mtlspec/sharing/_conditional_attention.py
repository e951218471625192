"""Conditional attention: a block-diagonal matrix of the task, added to the attention scores of every head."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from mtlspec.sharing._film import Film, Start


def block_size(width: int, length: int, full: bool) -> int:
    """Rows and columns of a block, for texts of up to `length` sub-tokens: about width // length blocks, or one."""
    blocks = 1 if full else max(width // length, 1)
    return -(-length // blocks)


class BlockAttention(nn.Module):
    """M(z) of one layer, cropped to the batch; zero off the blocks, which forbids nothing there.

    The stored matrix [length, block] has a block's rows under each other, and starts with zeros; the last block may
    have fewer rows. gamma and beta have a number for each column of a block, or (`entries`) for each of its entries,
    and are the same for all blocks.
    """

    def __init__(self, width: int, length: int, block: int, per: Literal["columns", "entries"], start: Start) -> None:
        super().__init__()
        self.block = block
        self.matrix = nn.Parameter(torch.zeros(length, block))
        self._shape = (1, block) if per == "columns" else (block, block)
        self.film = Film(width, self._shape[0] * block, start)

    def forward(self, z: Tensor, length: int) -> Tensor:
        """z [R, D] -> [R, 1, S, S] for S = `length` sub-tokens; zero beyond what the matrix covers."""
        covered = min(length, len(self.matrix))
        blocks = -(-covered // self.block)
        stored = nn.functional.pad(self.matrix[:covered], (0, 0, 0, blocks * self.block - covered))
        factor, summand = (part.view(len(z), 1, *self._shape) for part in self.film(z))
        made = stored.view(blocks, self.block, self.block) * factor + summand  # [R, blocks, rows, columns]
        spread = torch.diag_embed(made.permute(0, 2, 3, 1))  # [R, rows, columns, blocks, blocks]
        whole = spread.permute(0, 3, 1, 4, 2).reshape(len(z), blocks * self.block, blocks * self.block)
        beyond = length - covered
        return nn.functional.pad(whole[:, :covered, :covered], (0, beyond, 0, beyond)).unsqueeze(1)
