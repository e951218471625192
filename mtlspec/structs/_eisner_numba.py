"""Eisner's algorithm on the CPU, compiled.

Spans lie in two square charts of words, row: the head, column: the other end. `closed[h, e]`: h with all its
descendants on the side of e, up to e. `open_[h, d]`: the arc from h to d and everything between the two. One formula
then serves both directions, and because maxima are plain, no back-pointers are kept: the way back looks for the split
that gave the maximum, on the spans of the tree only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.structs._compile import compiled, on_tensors

Array = npt.NDArray[Any]


@compiled
def _copy(scores: Array, size: int, table: Array) -> None:
    """One sentence's scores in double precision, -inf for all that is not finite."""
    for d in range(1, size + 1):
        for h in range(size + 1):
            table[d, h] = scores[d, h] if np.isfinite(scores[d, h]) else -np.inf


@compiled
def _fill(scores: Array, size: int, closed: Array, open_: Array) -> None:
    """Charts of one sentence from its scores [n + 1, n + 1], widths ascending."""
    for i in range(size):
        closed[i, i] = 0.0
    for width in range(1, size):
        for i in range(size - width):
            j = i + width
            best = -np.inf
            for k in range(i, j):
                joined = closed[i, k] + closed[j, k + 1]
                best = joined if joined > best else best
            open_[i, j] = best + scores[j + 1, i + 1]
            open_[j, i] = best + scores[i + 1, j + 1]
            best = -np.inf
            for k in range(i + 1, j + 1):
                joined = open_[i, k] + closed[k, j]
                best = joined if joined > best else best
            closed[i, j] = best
            best = -np.inf
            for k in range(i, j):
                joined = open_[j, k] + closed[k, i]
                best = joined if joined > best else best
            closed[j, i] = best


@compiled
def _child(head: int, end: int, closed: Array, open_: Array) -> int:
    """The last child of `head` towards `end`; of equal ones the leftmost."""
    first, last = (head + 1, end) if head < end else (end, head - 1)
    child = first
    for k in range(first + 1, last + 1):
        if open_[head, k] + closed[k, end] > open_[head, child] + closed[child, end]:
            child = k
    return child


@compiled
def _split(low: int, high: int, closed: Array) -> int:
    """The word after which the inside of an arc between two words is cut; of equal ones the leftmost."""
    cut = low
    for k in range(low + 1, high):
        if closed[low, k] + closed[high, k + 1] > closed[low, cut] + closed[high, cut + 1]:
            cut = k
    return cut


@compiled
def _root(scores: Array, size: int, closed: Array) -> int:
    """The child of ROOT; of equal ones the leftmost."""
    root, best = 0, -np.inf
    for r in range(size):
        total = closed[r, 0] + closed[r, size - 1] + scores[r + 1, 0]
        if total > best:
            root, best = r, total
    return root


@on_tensors
@compiled
def best_trees(scores: Array, lengths: Array) -> Array:
    """scores [B, N + 1, N + 1], dependent x head; lengths int64 [B] -> heads int64 [B, N]."""
    rows, words = scores.shape[0], scores.shape[1] - 1
    heads = np.zeros((rows, words), np.int64)
    table = np.empty((words + 1, words + 1))
    closed, open_ = np.empty((words, words)), np.empty((words, words))
    todo = np.empty((2 * words + 2, 2), np.int64)  # closed spans still to be taken apart: (head, end)
    for b in range(rows):
        size = lengths[b]
        if size == 0:
            continue
        _copy(scores[b], size, table)
        _fill(table, size, closed, open_)
        root = _root(table, size, closed)
        todo[0, 0], todo[0, 1] = root, 0
        todo[1, 0], todo[1, 1] = root, size - 1
        count = 2
        while count:
            count -= 1
            head, end = todo[count, 0], todo[count, 1]
            if head == end:
                continue
            child = _child(head, end, closed, open_)
            heads[b, child] = head + 1
            low, high = min(head, child), max(head, child)
            cut = _split(low, high, closed)
            todo[count, 0], todo[count, 1] = child, end
            todo[count + 1, 0], todo[count + 1, 1] = low, cut
            todo[count + 2, 0], todo[count + 2, 1] = high, cut + 1
            count += 3
    return heads
