"""Scores of spans from vectors of fence-posts, the places between words."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mtlspec.model.biaffine import Biaffine, Mlp


class FencepostScorer(nn.Module):
    """Two biaffine scorers: whether a span is a phrase, and which one."""

    def __init__(self, width: int, span: int, label: int, labels: int, dropout: float, slope: float) -> None:
        super().__init__()
        self.span_left, self.span_right = (Mlp(width, span, dropout, slope) for _ in range(2))
        self.label_left, self.label_right = (Mlp(width, label, dropout, slope) for _ in range(2))
        self.span = Biaffine(span, span, 1, bias_left=True, bias_right=False)
        self.label = Biaffine(label, label, labels, bias_left=True, bias_right=True)

    def spans(self, posts: Tensor) -> Tensor:
        """posts [B, F, D] -> [B, F, F], row: start, column: end; at least in single precision"""
        scores: Tensor = self.span(self.span_left(posts), self.span_right(posts))
        return scores.float()

    def labels(self, posts: Tensor, cells: Tensor) -> Tensor:
        """posts [B, F, D], cells int64 [M] of the flattened [B, F, F] -> [M, labels]"""
        scores: Tensor = self.label(self.label_left(posts), self.label_right(posts))
        if scores.dim() == 3:  # one label
            scores = scores.unsqueeze(3)
        return scores.reshape(-1, scores.shape[3]).index_select(0, cells).float()


def fenceposts(words: Tensor, before: Tensor, behind: Tensor, lengths: Tensor) -> Tensor:
    """Vectors [B, W + 1, D] of places between words: the first half of the word before, the second of the one after.

    words [B, W, D]; before and behind [B, D] stand for what precedes and follows a sentence; lengths int64 [B].
    """
    half = words.shape[2] // 2
    left = torch.cat([before.unsqueeze(1), words], 1)[:, :, :half]
    last = (torch.arange(words.shape[1] + 1, device=words.device) == lengths.unsqueeze(1)).unsqueeze(2)
    after = torch.cat([words, behind.unsqueeze(1)], 1)[:, :, half:]
    right = torch.where(last, behind[:, half:].unsqueeze(1), after)
    return torch.cat([left, right], 2)
