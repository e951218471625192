"""Linear-chain CRF on any device: the same closed forms, vectorised over sentences, in log space.

Shapes: B sentences, N words, C tags. Everything is computed in double precision.
"""

from __future__ import annotations

import torch
from torch import Tensor

NEVER = float("-inf")


def forward(
    emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """log Z [B] and the forward scores alpha [B, N, C], which stand still on padding."""
    alphas = [start + emissions[:, 0]]
    for t in range(1, emissions.shape[1]):
        step = torch.logsumexp(alphas[-1].unsqueeze(2) + transitions, 1) + emissions[:, t]
        alphas.append(torch.where((t < lengths).unsqueeze(1), step, alphas[-1]))
    log_z = torch.logsumexp(alphas[-1] + end, 1)
    return torch.where(lengths > 0, log_z, 0.0), torch.stack(alphas, 1)


def backward(
    emissions: Tensor,
    transitions: Tensor,
    end: Tensor,
    lengths: Tensor,
    log_z: Tensor,
    alpha: Tensor,
    upstream: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of sum(upstream * log Z) for emissions, transitions, start and end, as in the compiled form."""
    rows, words, tags = emissions.shape
    possible = (lengths > 0) & (log_z != NEVER)
    shift = torch.where(possible, log_z, 0.0).view(-1, 1)  # -inf would turn 0 * inf into NaN
    weight = (upstream * possible).view(-1, 1)
    beta = end.expand(rows, tags)
    of_transitions = torch.zeros_like(transitions)
    of_words = [emissions.new_zeros(0)] * words
    for t in range(words - 1, -1, -1):
        if t + 1 < words:
            inside = (t + 1 < lengths).view(-1, 1)
            ahead = emissions[:, t + 1] + beta
            ahead_inside = (ahead - shift).masked_fill(~inside, NEVER)  # on padding the sum could overflow
            pairs = (alpha[:, t].unsqueeze(2) + transitions + ahead_inside.unsqueeze(1)).exp()
            of_transitions += (pairs * weight.unsqueeze(2)).sum(0)
            beta = torch.where(inside, torch.logsumexp(transitions + ahead.unsqueeze(1), 2), beta)
        here = (alpha[:, t] + beta - shift).masked_fill((t >= lengths).view(-1, 1), NEVER)
        of_words[t] = here.exp() * weight
    of_emissions = torch.stack(of_words, 1)
    last = (lengths - 1).clamp(min=0).view(-1, 1, 1).expand(-1, 1, tags)
    return of_emissions, of_transitions, of_emissions[:, 0].sum(0), of_emissions.gather(1, last).sum((0, 1))


def path_score(
    emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, lengths: Tensor, tags: Tensor
) -> Tensor:
    """Score [B] of given tags int64 [B, N]."""
    inside = torch.arange(tags.shape[1], device=tags.device) < lengths.view(-1, 1)
    unary = emissions.gather(2, tags.unsqueeze(2)).squeeze(2).masked_fill(~inside, 0.0)
    pair = transitions[tags[:, :-1], tags[:, 1:]].masked_fill(~inside[:, 1:], 0.0)
    last = tags.gather(1, (lengths - 1).clamp(min=0).view(-1, 1)).squeeze(1)
    ends = torch.where(lengths > 0, start[tags[:, 0]] + end[last], 0.0)
    return unary.sum(1) + pair.sum(1) + ends


def subtract_path(
    of_emissions: Tensor,
    of_transitions: Tensor,
    of_start: Tensor,
    of_end: Tensor,
    lengths: Tensor,
    tags: Tensor,
    upstream: Tensor,
) -> None:
    """Take the gradient of sum(upstream * path_score) off the four gradients, in place."""
    inside = torch.arange(tags.shape[1], device=tags.device) < lengths.view(-1, 1)
    weight = upstream.view(-1, 1) * inside  # [B, N]
    of_emissions.scatter_add_(2, tags.unsqueeze(2), -weight.unsqueeze(2))
    pair = tags[:, :-1] * of_start.shape[0] + tags[:, 1:]
    of_transitions.view(-1).index_add_(0, pair.flatten(), -weight[:, 1:].flatten())
    of_start.index_add_(0, tags[:, 0], -weight[:, 0])
    last = tags.gather(1, (lengths - 1).clamp(min=0).view(-1, 1)).squeeze(1)
    of_end.index_add_(0, last, -weight[:, 0])


def viterbi(
    emissions: Tensor, transitions: Tensor, start: Tensor, end: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Best tags int64 [B, N] (0 on padding) and their score [B]."""
    rows, words, tags = emissions.shape
    now = start + emissions[:, 0]
    stay = torch.arange(tags, device=emissions.device).expand(rows, tags)
    came_from = [stay]
    for t in range(1, words):
        step, origin = (now.unsqueeze(2) + transitions).max(1)
        inside = (t < lengths).view(-1, 1)
        now = torch.where(inside, step + emissions[:, t], now)
        came_from.append(torch.where(inside, origin, stay))
    score, tag = (now + end).max(1)
    path = [tag]
    for t in range(words - 1, 0, -1):
        path.append(came_from[t].gather(1, path[-1].view(-1, 1)).squeeze(1))
    inside = torch.arange(words, device=emissions.device) < lengths.view(-1, 1)
    return torch.stack(path[::-1], 1) * inside, torch.where(lengths > 0, score, 0.0)
