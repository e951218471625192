"""Dependency arcs: scores made ready for the tree decoders, and the test whether chosen heads are a tree already."""

from __future__ import annotations

import torch
from torch import Tensor

NEVER = float("-inf")


def prepared(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """A copy of the scores in double precision, where the device has it, with -inf for all that is not finite."""
    rows, dependents, heads = scores.shape
    if dependents != heads or lengths.shape != (rows,):
        raise ValueError(f"arc scores {tuple(scores.shape)} and lengths {tuple(lengths.shape)} do not fit together")
    if scores.device.type == "cpu" and rows and not 0 <= int(lengths.min()) <= int(lengths.max()) < dependents:
        raise ValueError(f"lengths {int(lengths.min())} to {int(lengths.max())} with {dependents - 1} words")
    wide = torch.float32 if scores.device.type == "mps" else torch.float64
    copy = scores.detach().to(wide, copy=True)
    return copy.masked_fill_(~copy.isfinite(), NEVER), lengths.to(torch.int64)


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
