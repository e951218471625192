"""Linear-chain CRF on the CPU, compiled: single paths here, sums over all of them next door.

Scores are float64 and may be -inf. Shapes: B sentences, N words, C tags.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.structs._compile import compiled, on_tensors
from mtlspec.structs._linear_chain_sums import backward, forward

__all__ = ["backward", "forward", "path_score", "subtract_path", "viterbi"]

Array = npt.NDArray[Any]


@on_tensors
@compiled
def path_score(emissions: Array, transitions: Array, start: Array, end: Array, lengths: Array, tags: Array) -> Array:
    """Score [B] of given tags int64 [B, N]."""
    score = np.zeros(len(lengths))
    for b in range(len(lengths)):
        n = lengths[b]
        for t in range(n):
            score[b] += emissions[b, t, tags[b, t]]
            score[b] += transitions[tags[b, t - 1], tags[b, t]] if t else start[tags[b, 0]]
        if n:
            score[b] += end[tags[b, n - 1]]
    return score


@on_tensors
@compiled
def subtract_path(
    of_emissions: Array,
    of_transitions: Array,
    of_start: Array,
    of_end: Array,
    lengths: Array,
    tags: Array,
    upstream: Array,
) -> None:
    """Take the gradient of sum(upstream * path_score) off the four gradients, in place."""
    for b in range(len(lengths)):
        n, up = lengths[b], upstream[b]
        for t in range(n):
            of_emissions[b, t, tags[b, t]] -= up
            if t:
                of_transitions[tags[b, t - 1], tags[b, t]] -= up
        if n:
            of_start[tags[b, 0]] -= up
            of_end[tags[b, n - 1]] -= up


@compiled
def _best_origin(before: Array, transitions: Array, tag: int) -> int:
    """The tag from which the best path reaches `tag`; the lowest of equal ones."""
    origin = 0
    for i in range(1, before.size):
        if before[i] + transitions[i, tag] > before[origin] + transitions[origin, tag]:
            origin = i
    return origin


@on_tensors
@compiled
def viterbi(emissions: Array, transitions: Array, start: Array, end: Array, lengths: Array) -> tuple[Array, Array]:
    """Best tags int64 [B, N] (0 on padding) and their score [B]; of equal scores the lowest tag wins.

    No back-pointers are kept: the way back looks only at the tags that lie on it, and the way there is a plain maximum.
    """
    rows, words, tags = emissions.shape
    best, score = np.zeros((rows, words), np.int64), np.zeros(rows)
    reach = np.empty((words, tags))
    now = np.empty(tags)
    for b in range(rows):
        n = lengths[b]
        if n == 0:
            continue
        for j in range(tags):
            reach[0, j] = start[j] + emissions[b, 0, j]
        for t in range(1, n):
            for j in range(tags):
                now[j] = -np.inf
            for i in range(tags):
                before = reach[t - 1, i]
                for j in range(tags):
                    candidate = before + transitions[i, j]
                    now[j] = candidate if candidate > now[j] else now[j]
            for j in range(tags):
                reach[t, j] = now[j] + emissions[b, t, j]
        for j in range(tags):
            now[j] = reach[n - 1, j] + end[j]
        tag: Any = np.argmax(now)
        score[b] = reach[n - 1, tag] + end[tag]
        best[b, n - 1] = tag
        for t in range(n - 1, 0, -1):
            tag = _best_origin(reach[t - 1], transitions, tag)
            best[b, t - 1] = tag
    return best, score
