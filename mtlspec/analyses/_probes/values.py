"""The attended-value probe: does the nearest centroid of a head's attended values name a span's label?"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mtlspec.data.batching import Batch
from mtlspec.model.encoder.encoder import pool_words


def word_values(contexts: Sequence[Tensor], batch: Batch) -> Tensor:
    """Attended values of words, all layers side by side: contexts [B, S, H, D] each -> [B, W, heads, D].

    The mean over a word's sub-tokens.
    """
    width = contexts[0].shape[3]
    joined = torch.cat([context.flatten(2) for context in contexts], 2)
    pooled = pool_words(joined, batch.word_of_piece, batch.word_mask.shape[1])
    return pooled.view(*pooled.shape[:2], -1, width)


def span_values(words: Tensor, row: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """The mean over each span's words: words [B, W, heads, D]; row, start, end int64 [r] -> [r, heads, D].

    Positions count from 1, as in `Gold`.
    """
    size = words.shape[1]
    flat = words.flatten(0, 1)
    width = end - start
    if bool((width == 1).all()):
        return flat.index_select(0, row * size + start - 1)
    span = torch.repeat_interleave(torch.arange(len(row), device=words.device), width)
    begin = width.cumsum(0) - width
    inner = torch.arange(len(span), device=words.device) - begin.index_select(0, span)
    parts = flat.index_select(0, row.index_select(0, span) * size + start.index_select(0, span) - 1 + inner)
    total = torch.zeros(len(row), *flat.shape[1:], dtype=flat.dtype, device=flat.device).index_add_(0, span, parts)
    return total / width.view(-1, 1, 1)


class Centroids:
    """One mean vector for each label and head: sums float64 [labels, heads, D]."""

    def __init__(self, labels: int, heads: int, width: int, device: torch.device) -> None:
        self._sums = torch.zeros(labels, heads, width, dtype=torch.float64, device=device)
        self._counts = torch.zeros(labels, dtype=torch.float64, device=device)

    def add(self, values: Tensor, label: Tensor) -> None:
        """values [r, heads, D], label int64 [r]."""
        share = torch.nn.functional.one_hot(label, len(self._counts)).to(values.dtype)  # [r, labels]
        self._sums += (share.T @ values.flatten(1)).view_as(self._sums)
        self._counts += share.sum(0)

    def directions(self) -> Tensor:
        """Centroids of length 1, [heads, D, labels]; those of labels that were never added are NaN."""
        means = self._sums / self._counts.view(-1, 1, 1)
        return torch.nn.functional.normalize(means, dim=2).permute(1, 2, 0).float().contiguous()


def nearest(values: Tensor, directions: Tensor) -> Tensor:
    """The label whose centroid has the largest cosine: values [r, heads, D] -> int64 [r, heads].

    The length of a span's own vector does not change which centroid is nearest, so it is left alone.
    """
    cosine = torch.bmm(values.transpose(0, 1), directions)  # [heads, r, labels]
    return cosine.nan_to_num(nan=-torch.inf).argmax(2).T
