"""Span packing, compiled. Spans of group g lie at offsets[g] : offsets[g + 1]; scores are float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.structs._compile import compiled, on_tensors

Array = npt.NDArray[Any]


@on_tensors
@compiled
def greedy(scores: Array, starts: Array, ends: Array, offsets: Array, nested: Array) -> Array:
    """bool [K]; `nested` bool [1] lets spans lie inside each other."""
    taken = np.zeros(len(scores), np.bool_)
    for group in range(len(offsets) - 1):
        first = offsets[group]
        order = first + np.argsort(-scores[first : offsets[group + 1]], kind="mergesort")
        kept = np.empty(len(order), np.int64)
        count = 0
        for k in order:
            if not scores[k] > -np.inf:
                continue
            free = True
            for i in range(count):
                other = kept[i]
                if starts[k] >= ends[other] or starts[other] >= ends[k]:
                    continue
                inside = starts[other] <= starts[k] and ends[k] <= ends[other]
                around = starts[k] <= starts[other] and ends[other] <= ends[k]
                same = inside and around
                if same or not (nested[0] and (inside or around)):
                    free = False
                    break
            if free:
                taken[k] = True
                kept[count] = k
                count += 1
    return taken


@on_tensors
@compiled
def best_disjoint(scores: Array, starts: Array, ends: Array, offsets: Array) -> Array:
    """bool [K]. `best[t]` is the best total of spans that end by word t; `last[t]` the span that ends there, or -1."""
    taken = np.zeros(len(scores), np.bool_)
    for group in range(len(offsets) - 1):
        first, stop = offsets[group], offsets[group + 1]
        words = 0
        for k in range(first, stop):
            words = max(words, ends[k])
        ending = np.full(words + 1, -1, np.int64)  # chains of spans by their end, in the given order
        following = np.full(stop - first, -1, np.int64)
        for k in range(stop - 1, first - 1, -1):
            if scores[k] > 0:
                following[k - first] = ending[ends[k]]
                ending[ends[k]] = k
        best, last = np.zeros(words + 1), np.full(words + 1, -1, np.int64)
        for word in range(1, words + 1):
            best[word] = best[word - 1]
            k = ending[word]
            while k >= 0:
                total = best[starts[k]] + scores[k]
                if total > best[word]:
                    best[word], last[word] = total, k
                k = following[k - first]
        word = words
        while word > 0:
            if last[word] < 0:
                word -= 1
            else:
                taken[last[word]] = True
                word = starts[last[word]]
    return taken
