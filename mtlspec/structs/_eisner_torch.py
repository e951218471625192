"""Eisner's algorithm on any device: all sentences and all spans of a width at once.

The charts are those of the compiled form, `closed` and `open_` [B, N, N], head x other end, with the split that gave
each maximum beside them. The way back goes through widths too, marking the spans that belong to the trees.
"""

from __future__ import annotations

import torch
from torch import Tensor


def best_trees(scores: Tensor, lengths: Tensor) -> Tensor:
    """scores [B, N + 1, N + 1], dependent x head; lengths int64 [B] -> heads int64 [B, N]."""
    rows, words = scores.shape[0], scores.shape[1] - 1
    if words == 0:
        return lengths.new_zeros(rows, 0)
    scores = torch.where(scores.isfinite(), scores, float("-inf")).double()
    closed, child, cut = _charts(scores)
    place = torch.arange(words, device=scores.device)
    last = (lengths - 1).clamp(min=0)
    reach = closed[:, :, 0] + closed.gather(2, last.view(-1, 1, 1).expand(-1, words, 1)).squeeze(2) + scores[:, 1:, 0]
    root = reach.masked_fill(place >= lengths.view(-1, 1), float("-inf")).argmax(1)
    return _heads(root, last, child, cut) * (place < lengths.view(-1, 1))


def _charts(scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The closed chart, the outermost child of each closed span, and the cut inside each arc, [B, N, N] each."""
    rows, words = scores.shape[0], scores.shape[1] - 1
    closed, open_ = scores.new_zeros(rows, words, words), scores.new_zeros(rows, words, words)
    child = torch.zeros(rows, words, words, dtype=torch.int64, device=scores.device)
    cut = torch.zeros_like(child)
    for width in range(1, words):
        left = torch.arange(words - width, device=scores.device)  # [n]
        right = left + width
        i, j = left.unsqueeze(1), right.unsqueeze(1)
        k = i + torch.arange(width, device=scores.device)  # [n, width]: from i to j - 1
        inside, at = (closed[:, i, k] + closed[:, j, k + 1]).max(2)
        cut[:, left, right] = cut[:, right, left] = at + left
        open_[:, left, right] = inside + scores[:, right + 1, left + 1]
        open_[:, right, left] = inside + scores[:, left + 1, right + 1]
        closed[:, left, right], at = (open_[:, i, k + 1] + closed[:, k + 1, j]).max(2)
        child[:, left, right] = at + left + 1
        closed[:, right, left], at = (open_[:, j, k] + closed[:, k, i]).max(2)
        child[:, right, left] = at + left
    return closed, child, cut


def _heads(root: Tensor, last: Tensor, child: Tensor, cut: Tensor) -> Tensor:
    """Heads int64 [B, N] from the roots' and last words' indices [B]."""
    rows, words, _ = child.shape
    heads = torch.zeros(rows, words, dtype=torch.int64, device=child.device)
    wanted = torch.zeros(child.shape, dtype=torch.bool, device=child.device)  # closed spans of the trees
    batch = torch.arange(rows, device=child.device)
    wanted[batch, root, 0] = True
    wanted[batch, root, last] = True
    for width in range(words - 1, 0, -1):
        for head, end in _both_ways(words, width, child.device):
            b, at = wanted[:, head, end].nonzero(as_tuple=True)
            above, below = head[at], child[b, head[at], end[at]]
            heads[b, below] = above + 1
            low, high = torch.minimum(above, below), torch.maximum(above, below)
            middle = cut[b, low, high]
            wanted[b, below, end[at]] = True
            wanted[b, low, middle] = True
            wanted[b, high, middle + 1] = True
    return heads


def _both_ways(words: int, width: int, device: torch.device) -> list[tuple[Tensor, Tensor]]:
    left = torch.arange(words - width, device=device)
    return [(left, left + width), (left + width, left)]
