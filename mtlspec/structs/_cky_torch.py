"""Best binary trees on any device, vectorised over sentences and over all spans of one width."""

from __future__ import annotations

import torch
from torch import Tensor

from mtlspec.structs._tree_crf_torch import halves, within


def best_trees(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Spans int64 [sum of 2n - 1, 2] of the best trees, end to end, outer and left first; their scores [B]."""
    rows, posts, _ = scores.shape
    chart = within(scores, lengths)
    splits = [torch.zeros(rows, posts - 1, dtype=torch.int64, device=scores.device)] * 2  # widths 0 and 1 have none
    for width in range(2, posts):
        left, right = halves(chart, width)
        best, split = (left + right).max(2)  # the first of equal ones
        chart.diagonal(width, 1, 2).add_(best)
        splits.append(split)
    ends = lengths.view(rows, 1)
    score = torch.where(lengths > 0, chart[:, 0].gather(1, ends).squeeze(1), 0.0)
    chosen = torch.zeros(rows, posts, posts, dtype=torch.bool, device=scores.device)
    chosen[:, 0].scatter_(1, ends, True)
    chosen[:, 0, 0] = False  # where sentences without words start
    for width in range(posts - 1, 1, -1):
        here = chosen.diagonal(width, 1, 2).unsqueeze(2)
        at = torch.zeros(rows, posts - width, width - 1, dtype=torch.bool, device=scores.device)
        at.scatter_(2, splits[width].unsqueeze(2), here)
        for part in halves(chosen, width):
            part.logical_or_(at)
    found = chosen.flip(2).nonzero()  # by start; of one start the longest span first
    return torch.stack([found[:, 1], posts - 1 - found[:, 2]], 1), score
