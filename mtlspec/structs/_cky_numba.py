"""Best binary trees on the CPU, compiled. Scores are float64 and may be -inf."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.structs._compile import compiled, on_tensors

Array = npt.NDArray[Any]


@compiled
def _best_split(a: Array, b: Array) -> int:
    """The first place where a + b, both [K], is largest."""
    best = 0
    for k in range(1, a.size):
        if a[k] + b[k] > a[best] + b[best]:
            best = k
    return best


@compiled
def _fill(scores: Array, n: int, chart: Array) -> None:
    """The best score of every span, at [start, end] and at [end, start]; scores and chart [F, F].

    Only the best value is sought: splits are found again for the few spans of the best tree. Four maxima at a time,
    because one would wait for the other.
    """
    for i in range(n - 1, -1, -1):
        chart[i, i + 1] = chart[i + 1, i] = scores[i, i + 1]
        for j in range(i + 2, n + 1):
            one = two = three = four = -np.inf
            k = i + 1
            while k + 4 <= j:
                one = max(one, chart[i, k] + chart[j, k])
                two = max(two, chart[i, k + 1] + chart[j, k + 1])
                three = max(three, chart[i, k + 2] + chart[j, k + 2])
                four = max(four, chart[i, k + 3] + chart[j, k + 3])
                k += 4
            while k < j:
                one = max(one, chart[i, k] + chart[j, k])
                k += 1
            chart[i, j] = chart[j, i] = scores[i, j] + max(one, two, three, four)


@on_tensors
@compiled
def best_trees(scores: Array, lengths: Array) -> tuple[Array, Array]:
    """Spans int64 [sum of 2n - 1, 2] of the best trees, end to end, outer and left first; their scores [B]."""
    rows, posts = scores.shape[0], scores.shape[1]
    total = 0
    for b in range(rows):
        total += max(2 * lengths[b] - 1, 0)
    spans, best = np.empty((total, 2), np.int64), np.zeros(rows)
    chart, todo = np.empty((posts, posts)), np.empty((posts + 1, 2), np.int64)
    at = 0
    for b in range(rows):
        n = lengths[b]
        if n == 0:
            continue
        _fill(scores[b], n, chart)
        best[b] = chart[0, n]
        todo[0, 0], todo[0, 1] = 0, n
        waiting = 1
        while waiting:
            waiting -= 1
            i, j = todo[waiting, 0], todo[waiting, 1]
            spans[at, 0], spans[at, 1] = i, j
            at += 1
            if j > i + 1:
                k = i + 1 + _best_split(chart[i, i + 1 : j], chart[j, i + 1 : j])
                todo[waiting, 0], todo[waiting, 1] = k, j
                todo[waiting + 1, 0], todo[waiting + 1, 1] = i, k
                waiting += 2
    return spans, best
