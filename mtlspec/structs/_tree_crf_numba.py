"""Tree CRF on the CPU, compiled: inside sums and their exact gradient, in log space.

Scores are float64 and may be -inf. Shapes: B sentences, F = words + 1 fence-posts. The chart of a sentence is
symmetric: a span's value stands at [start, end] and at [end, start], so that both halves of a span lie along memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.structs._compile import compiled, on_tensors

Array = npt.NDArray[Any]
_LOST = -45.0  # exp(-45) does not change a double sum that holds a 1


@compiled
def _log_sum_of_pairs(a: Array, b: Array) -> float:
    """log of the sum of exp(a + b), both [K]."""
    top, total = -np.inf, 0.0
    for k in range(a.size):
        score = a[k] + b[k]
        if score > top or np.isnan(score):
            top = score
    if top == -np.inf:
        return -np.inf
    for k in range(a.size):
        behind = a[k] + b[k] - top
        if not behind < _LOST:
            total += np.exp(behind)
    return top + np.log(total)  # type: ignore[no-any-return]


@on_tensors
@compiled
def inside(scores: Array, lengths: Array) -> tuple[Array, Array]:
    """log Z [B] and the chart [B, F, F] that `outside` needs; 0 for a sentence without words."""
    rows, posts = scores.shape[0], scores.shape[1]
    chart, log_z = np.empty((rows, posts, posts)), np.zeros(rows)
    for b in range(rows):
        n = lengths[b]
        for i in range(n - 1, -1, -1):
            for j in range(i + 1, n + 1):
                value = scores[b, i, j]
                if j > i + 1:
                    value += _log_sum_of_pairs(chart[b, i, i + 1 : j], chart[b, j, i + 1 : j])
                chart[b, i, j] = value
                chart[b, j, i] = value
        if n > 0:
            log_z[b] = chart[b, 0, n]
    return log_z, chart


@on_tensors
@compiled
def outside(scores: Array, lengths: Array, chart: Array, upstream: Array) -> Array:
    """Gradient [B, F, F] of sum(upstream * log Z): with `upstream` 1 the probabilities of spans.

    A sentence that no tree can cover (log Z = -inf) has gradient 0. What reaches a span as a left part is collected at
    [start, end], what reaches it as a right part at [end, start].
    """
    rows, posts = scores.shape[0], scores.shape[1]
    found = np.zeros((rows, posts, posts))
    reach = np.empty((posts, posts))
    for b in range(rows):
        n = lengths[b]
        if n == 0 or chart[b, 0, n] == -np.inf:
            continue
        for i in range(n + 1):
            for j in range(n + 1):
                reach[i, j] = 0.0
        reach[0, n] = upstream[b]
        for i in range(n):
            for j in range(n, i, -1):
                flow = reach[i, j] + reach[j, i]
                found[b, i, j] = flow
                if flow == 0.0 or j == i + 1:
                    continue
                halves = chart[b, i, j] - scores[b, i, j]
                for k in range(i + 1, j):
                    share = chart[b, i, k] + chart[b, j, k] - halves
                    if not share < _LOST:
                        share = flow * np.exp(share)
                        reach[i, k] += share
                        reach[j, k] += share
    return found
