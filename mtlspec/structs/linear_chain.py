"""Linear-chain conditional random field: partition function, loss, best path and marginals, with exact gradients.

Arguments, everywhere: emissions [B, N, C], transitions [C, C] (from row tag to column tag), start [C], end [C],
mask bool [B, N] (True on a sentence's words, which come first). B sentences, N words, C tags. Scores may be -inf.
On the CPU compiled code does the work, on other devices vectorised torch; both give the same numbers.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from mtlspec.structs import _linear_chain_torch as vectorised


def log_partition(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Logarithm of the sum over all taggings of their exponentiated scores: [B]; 0 for a sentence without words."""
    return _apply(emissions, transitions, start, end, mask, None)


def nll(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
    """Negative log-likelihood of tags int64 [B, N] (anything on padding): [B]."""
    return _apply(emissions, transitions, start, end, mask, tags)


def viterbi(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Best tags int64 [B, N] (0 on padding) and their score [B]; of equal ones the lowest tag wins, from the end on."""
    backend = _backend(emissions)
    with torch.no_grad():
        tags, score = backend.viterbi(*_scores(emissions, transitions, start, end), _lengths(mask))
    return tags, score.to(emissions.dtype)


def marginals(emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor) -> Tensor:
    """Probability of each tag at each word [B, N, C], 0 on padding; without gradient."""
    backend = _backend(emissions)
    with torch.no_grad():
        scores, lengths = _scores(emissions, transitions, start, end), _lengths(mask)
        log_z, *saved = backend.forward(*scores, lengths)
        ones = torch.ones_like(log_z)
        found: Tensor = backend.backward(scores[0], scores[1], scores[3], lengths, log_z, *saved, ones)[0]
    return found.to(emissions.dtype)


class _Chain(Function):
    """log Z, or log Z minus the score of given tags; the backend is a parameter so that both can be tested anywhere."""

    @staticmethod
    def forward(
        ctx: Any,
        backend: Any,
        emissions: Tensor,
        transitions: Tensor,
        start: Tensor,
        end: Tensor,
        mask: Tensor,
        tags: Tensor | None,
    ) -> Tensor:
        scores, lengths = _scores(emissions, transitions, start, end), _lengths(mask)
        log_z, *saved = backend.forward(*scores, lengths)
        ctx.backend, ctx.types = backend, [t.dtype for t in (emissions, transitions, start, end)]
        ctx.save_for_backward(scores[0], scores[1], scores[3], lengths, log_z, tags, *saved)
        value: Tensor = log_z if tags is None else log_z - backend.path_score(*scores, lengths, tags)
        return value.to(emissions.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        emissions, transitions, end, lengths, log_z, tags, *saved = ctx.saved_tensors
        upstream = upstream.to(log_z.dtype)
        found = ctx.backend.backward(emissions, transitions, end, lengths, log_z, *saved, upstream)
        if tags is not None:
            ctx.backend.subtract_path(*found, lengths, tags, upstream)
        return (None, *(grad.to(dtype) for grad, dtype in zip(found, ctx.types, strict=True)), None, None)


def _apply(
    emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, mask: Tensor, tags: Tensor | None
) -> Tensor:
    if tags is not None:
        tags = tags.masked_fill(~mask, 0)
    value: Tensor = _Chain.apply(_backend(emissions), emissions, transitions, start, end, mask, tags)  # type: ignore[no-untyped-call]
    return value


def _backend(emissions: Tensor) -> Any:
    if emissions.device.type != "cpu":
        return vectorised
    from mtlspec.structs import _linear_chain_numba

    return _linear_chain_numba


def _scores(*tensors: Tensor) -> tuple[Tensor, ...]:
    """In double precision: sums over a sentence lose too much otherwise."""
    return tuple(t.detach().double().contiguous() for t in tensors)


def _lengths(mask: Tensor) -> Tensor:
    if mask.device.type == "cpu" and bool((mask[:, 1:] & ~mask[:, :-1]).any()):
        raise ValueError("a mask has a gap: the words of a sentence must come first")
    return mask.sum(1)
