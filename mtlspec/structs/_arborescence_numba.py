"""Chu-Liu-Edmonds by growing paths (Tarjan, Gabow), on the CPU, compiled.

From each word a path follows the best entering arcs until it meets ROOT, an earlier path, or itself; a cycle is
contracted to a new node and the path goes on from there. Nodes: 0 is ROOT, 1 to n the words, from n + 1 on the
contracted cycles. A node's row in the tables holds, for each original head, the best arc from it into the node; heads
inside the node are skipped by looking at `top`, the outermost node around each word, so columns are never merged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.structs._compile import compiled, on_tensors

Array = npt.NDArray[Any]


@compiled
def _greedy(scores: Array, size: int, heads: Array) -> bool:
    """Each word's first best head into heads [N]; whether these are a tree with one root, and so the best one."""
    roots = 0
    for d in range(1, size + 1):
        head, best = -1, -np.inf
        for h in range(size + 1):
            if scores[d, h] > best and h != d and scores[d, h] < np.inf:
                head, best = h, scores[d, h]
        if head < 0:
            return False
        heads[d - 1] = head
        roots += head == 0
    if roots != 1:
        return False
    seen = np.zeros(size + 1, np.int64)  # by the climb that started from which word
    for start in range(1, size + 1):
        node = start
        while node and not seen[node]:
            seen[node] = start
            node = heads[node - 1]
        if node and seen[node] == start:
            return False
    return True


@compiled
def _weigh(scores: Array, size: int, rank: Array, value: Array, into: Array) -> None:
    """Arcs as pairs: an integer that counts ROOT's arcs and, worth less than these, forbidden ones; and the score."""
    for d in range(1, size + 1):
        for h in range(size + 1):
            possible = np.isfinite(scores[d, h])
            rank[d, h] = (0 if possible else -1) - (size + 1 if h == 0 else 0)
            value[d, h] = scores[d, h] if possible else 0.0
            into[d, h] = d


@compiled
def _best_head(row: int, node: int, size: int, top: Array, rank: Array, value: Array) -> int:
    """The first of the best heads outside the node."""
    best, best_rank, best_value = -1, -(2**62), 0.0
    for h in range(size + 1):
        r, v = rank[row, h], value[row, h]
        if top[h] != node and (r > best_rank or (r == best_rank and v > best_value)):
            best, best_rank, best_value = h, r, v
    return best


@compiled
def _merge(target: int, row: int, head: int, size: int, rank: Array, value: Array, into: Array) -> None:
    """Arcs into `row`, less its chosen one from `head`, compete with those of row `target`; its own row only shifts."""
    chosen_rank, chosen_value = rank[row, head], value[row, head]
    for h in range(size + 1):
        r, v = rank[row, h] - chosen_rank, value[row, h] - chosen_value
        if target == row or r > rank[target, h] or (r == rank[target, h] and v > value[target, h]):
            rank[target, h], value[target, h], into[target, h] = r, v, into[row, h]


@compiled
def _grow(size: int, rank: Array, value: Array, into: Array, source: Array, entry: Array, around: Array) -> int:
    """Choose an arc (source, entry) into every node, contracting cycles; the number of nodes.

    `around` becomes the contracted node that a node lies in, 0 if none.
    """
    top, row_of = np.arange(size + 1), np.arange(2 * size + 1)
    finished, on_path = np.zeros(2 * size + 1, np.bool_), np.zeros(2 * size + 1, np.bool_)
    finished[0] = True
    path = np.empty(size + 1, np.int64)
    nodes = size + 1
    for start in range(1, size + 1):
        node, length = top[start], 0
        while not finished[node]:
            path[length] = node
            length += 1
            on_path[node] = True
            head = _best_head(row_of[node], node, size, top, rank, value)
            source[node], entry[node] = head, into[row_of[node], head]
            node = top[head]
            if not on_path[node] or finished[node]:
                continue
            target = row_of[node]
            row_of[nodes] = target
            _merge(target, target, source[node], size, rank, value, into)
            around[node] = nodes
            while path[length - 1] != node:
                length -= 1
                member = path[length]
                _merge(target, row_of[member], source[member], size, rank, value, into)
                around[member] = nodes
            length -= 1
            for h in range(size + 1):
                if around[top[h]] == nodes:
                    top[h] = nodes
            node = nodes
            nodes += 1
        for place in range(length):
            finished[path[place]] = True
    return nodes


@on_tensors
@compiled
def best_trees(scores: Array, lengths: Array) -> Array:
    """scores [B, N + 1, N + 1], dependent x head; lengths int64 [B] -> heads int64 [B, N]."""
    rows, words = scores.shape[0], scores.shape[1] - 1
    heads = np.zeros((rows, words), np.int64)
    rank, value = np.empty((words + 1, words + 1), np.int64), np.empty((words + 1, words + 1))
    into = np.empty((words + 1, words + 1), np.int64)
    for b in range(rows):
        size = lengths[b]
        if _greedy(scores[b], size, heads[b]):
            continue
        _weigh(scores[b], size, rank, value, into)
        source, entry = np.empty(2 * size + 1, np.int64), np.empty(2 * size + 1, np.int64)
        around = np.zeros(2 * size + 1, np.int64)
        nodes = _grow(size, rank, value, into, source, entry, around)
        replaced = np.zeros(nodes, np.bool_)
        for node in range(nodes - 1, 0, -1):
            if replaced[node]:
                continue
            # The arc enters the node at one word: it replaces what was chosen for every node between the two.
            inner = entry[node]
            heads[b, inner - 1] = source[node]
            while inner != node:
                replaced[inner] = True
                inner = around[inner]
    return heads
