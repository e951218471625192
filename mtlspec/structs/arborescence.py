"""The best dependency tree with exactly one root child, crossing arcs allowed: Chu-Liu-Edmonds in quadratic time.

scores [B, N + 1, N + 1] hold dependent x head: scores[b, d, h] is the score of an arc from h to d; index 0 is ROOT,
whose row is never read. The input is left as it is.

The single root is exact, without a penalty that has to be large enough: arcs weigh pairs (an integer, the score) that
are added and compared component by component. The integer counts arcs from ROOT, and below them forbidden arcs (-inf or
not finite in any other way); the algorithm needs no more than such an ordered group. So the tree has one root, of those
as few forbidden arcs as possible, and of those the greatest score.
"""

from __future__ import annotations

import torch
from torch import Tensor

from mtlspec.structs.arcs import checked


@torch.no_grad()
def best_trees(scores: Tensor, lengths: Tensor) -> Tensor:
    """Heads int64 [B, N] of the words: 1-based, 0 for ROOT and on padding. lengths int64 [B] count words.

    The work is done on the CPU whatever the device: contracting cycles is a chain of small decisions, and moving scores
    costs less than a single one of them on an accelerator. Of equal trees always the same one is found.
    """
    from mtlspec.structs import _arborescence_numba

    found: Tensor = _arborescence_numba.best_trees(*checked(scores.cpu(), lengths.cpu()))
    return found.to(scores.device)
