"""The binary tree with the best sum of span scores (Cocke, Kasami, Younger).

Over span probabilities (`tree_crf.marginals`) this is the tree with the most expected right spans.
On the CPU compiled code does the work, on other devices vectorised torch; both give the same trees.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mtlspec.structs import _cky_torch as vectorised
from mtlspec.structs.tree_crf import double


def best_trees(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """scores [B, F, F] over spans between fence-posts as in `tree_crf`, lengths int64 [B] in words.

    Returns spans int64 [sum of 2n - 1, 2], the trees of the sentences end to end, outer and left spans first, and the
    scores of the trees [B]. Of equally good splits the leftmost wins.
    """
    with torch.no_grad():
        spans, best = _backend(scores).best_trees(double(scores), lengths)
    return spans, best.to(scores.dtype)


def _backend(scores: Tensor) -> Any:
    if scores.device.type != "cpu":
        return vectorised
    from mtlspec.structs import _cky_numba

    return _cky_numba
