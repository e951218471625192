"""Conditional random field over binary trees: partition function, loss and span probabilities, with exact gradients.

Arguments, everywhere: scores [B, F, F] over spans between fence-posts (row: start, column: end; F = words + 1; only
cells above the diagonal count), lengths int64 [B] in words. The score of a tree is the sum of its 2n - 1 spans, single
words and the whole sentence included. Scores may be -inf.
On the CPU compiled code does the work, on other devices vectorised torch; both give the same numbers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from mtlspec.structs import _tree_crf_torch as vectorised


def log_partition(scores: Tensor, lengths: Tensor) -> Tensor:
    """Logarithm of the sum over all binary trees of their exponentiated scores: [B]; 0 for a sentence without words."""
    value: Tensor = _Trees.apply(_backend(scores), scores, lengths)  # type: ignore[no-untyped-call]
    return value


def nll(scores: Tensor, lengths: Tensor, gold: Tensor) -> Tensor:
    """Negative log-likelihood [B] of the trees whose spans are True in gold, bool [B, F, F]."""
    return log_partition(scores, lengths) - scores.masked_fill(~gold, 0.0).sum((1, 2))


def marginals(scores: Tensor, lengths: Tensor) -> Tensor:
    """Probability that a tree has the span [B, F, F], 0 where there is none; without gradient."""
    backend = _backend(scores)
    with torch.no_grad():
        wide = double(scores)
        log_z, chart = backend.inside(wide, lengths)
        found: Tensor = backend.outside(wide, lengths, chart, torch.ones_like(log_z))
    return found.to(scores.dtype)


class _Trees(Function):
    """log Z; the backend is a parameter so that both can be tested anywhere."""

    @staticmethod
    def forward(ctx: Any, backend: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        wide = double(scores)
        log_z, chart = backend.inside(wide, lengths)
        ctx.backend, ctx.type = backend, scores.dtype
        ctx.save_for_backward(wide, lengths, chart)
        value: Tensor = log_z.to(scores.dtype)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[None, Tensor, None]:
        scores, lengths, chart = ctx.saved_tensors
        found: Tensor = ctx.backend.outside(scores, lengths, chart, upstream.to(chart.dtype))
        return None, found.to(ctx.type), None


def double(scores: Tensor) -> Tensor:
    """In double precision: sums over a sentence lose too much otherwise."""
    return scores.detach().double().contiguous()


def _backend(scores: Tensor) -> Any:
    if scores.device.type != "cpu":
        return vectorised
    from mtlspec.structs import _tree_crf_numba

    return _tree_crf_numba
