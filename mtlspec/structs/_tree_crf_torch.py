"""Tree CRF on any device: the same sums, vectorised over sentences and over all spans of one width.

Shapes: B sentences, F = words + 1 fence-posts. Everything is computed in double precision.
"""

from __future__ import annotations

import torch
from torch import Tensor

NEVER = float("-inf")


def halves(chart: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Left and right parts of all spans of a width, each [B, F - width, width - 1]: views of a whole chart [B, F, F].

    Split k of the span that starts at i cuts at i + 1 + k. No two places of a view are the same cell.
    """
    rows, posts, _ = chart.shape
    shape = (rows, posts - width, width - 1)
    left = chart.as_strided(shape, (posts * posts, posts + 1, 1), chart.storage_offset() + 1)
    right = chart.as_strided(shape, (posts * posts, posts + 1, posts), chart.storage_offset() + posts + width)
    return left, right


def inside(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """log Z [B] and the chart [B, F, F] that `outside` needs."""
    rows, posts, _ = scores.shape
    chart = within(scores, lengths)
    for width in range(2, posts):
        left, right = halves(chart, width)
        chart.diagonal(width, 1, 2).add_(torch.logsumexp(left + right, 2))
    log_z = chart[:, 0].gather(1, lengths.view(rows, 1)).squeeze(1)
    return torch.where(lengths > 0, log_z, 0.0), chart


def outside(scores: Tensor, lengths: Tensor, chart: Tensor, upstream: Tensor) -> Tensor:
    """Gradient [B, F, F] of sum(upstream * log Z), as in the compiled form."""
    rows, posts, _ = scores.shape
    scores = within(scores, lengths)
    whole = chart[:, 0].gather(1, lengths.view(rows, 1)).squeeze(1)
    found = torch.zeros_like(chart)
    found[:, 0].scatter_(1, lengths.view(rows, 1), torch.where(whole == NEVER, 0.0, upstream).view(rows, 1))
    found[:, 0, 0] = 0.0  # where sentences without words start
    for width in range(posts - 1, 1, -1):
        left, right = halves(chart, width)
        both = chart.diagonal(width, 1, 2) - scores.diagonal(width, 1, 2)
        flow = found.diagonal(width, 1, 2).unsqueeze(2)
        share = ((left + right - both.unsqueeze(2)).exp() * flow).masked_fill(flow == 0, 0.0)  # not NaN: -inf - -inf
        for part in halves(found, width):
            part.add_(share)
    return found


def within(scores: Tensor, lengths: Tensor) -> Tensor:
    """A copy of scores [B, F, F] with 0 outside of the sentence and below the diagonal, whatever stood there."""
    posts = torch.arange(scores.shape[1], device=scores.device)
    span = (posts.view(-1, 1) < posts) & (posts <= lengths.view(-1, 1, 1))
    return scores.masked_fill(~span, 0.0).contiguous()
