"""Dependency arcs: what the tree decoders expect, and the test whether chosen heads are a tree already."""

from __future__ import annotations

import torch
from torch import Tensor


def checked(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Scores [B, N + 1, N + 1] without gradient, in single precision at least, and lengths int64 [B], if they fit."""
    rows, dependents, heads = scores.shape
    if dependents != heads or lengths.shape != (rows,):
        raise ValueError(f"arc scores {tuple(scores.shape)} and lengths {tuple(lengths.shape)} do not fit together")
    if scores.device.type == "cpu" and rows and not 0 <= int(lengths.min()) <= int(lengths.max()) < dependents:
        raise ValueError(f"lengths {int(lengths.min())} to {int(lengths.max())} with {dependents - 1} words")
    wide = scores.dtype if scores.dtype == torch.float64 else torch.float32
    return scores.detach().to(wide), lengths.to(torch.int64)


def is_single_rooted(heads: Tensor, mask: Tensor) -> Tensor:
    """Whether heads int64 [B, N] (1-based, 0: ROOT; anything outside mask bool [B, N]) are a tree with one root: [B].

    Every word jumps to its head's head, then to that one's, in steps that double: a cycle never arrives at ROOT.
    """
    heads = heads.masked_fill(~mask, 0)
    one_root = ((heads == 0) & mask).sum(1) == 1
    ancestors = torch.nn.functional.pad(heads, (1, 0))  # ROOT is its own head
    for _ in range(heads.shape[1].bit_length()):
        ancestors = ancestors.gather(1, ancestors)
    return one_root & (ancestors == 0).all(1)
