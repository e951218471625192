"""The best projective dependency tree with exactly one root child, by Eisner's algorithm.

scores [B, N + 1, N + 1] hold dependent x head: scores[b, d, h] is the score of an arc from h to d; index 0 is ROOT,
whose row is never read. Arcs that are -inf (or not finite in any other way) are avoided if a tree without them exists.
The input is left as it is. On the CPU compiled code does the work, on other devices torch, vectorised over sentences
and spans; both find the same tree, also among equals.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mtlspec.structs import _eisner_torch as vectorised
from mtlspec.structs.arcs import checked


@torch.no_grad()
def best_trees(scores: Tensor, lengths: Tensor) -> Tensor:
    """Heads int64 [B, N] of the words: 1-based, 0 for ROOT and on padding. lengths int64 [B] count words.

    Words are first parsed without ROOT, then ROOT takes the one child that makes the sum greatest: this is exact.
    Of equal trees the first root wins, then the leftmost split of each span, from the widest span down.
    """
    found: Tensor = _backend(scores).best_trees(*checked(scores, lengths))
    return found


def _backend(scores: Tensor) -> Any:
    if scores.device.type != "cpu":
        return vectorised
    from mtlspec.structs import _eisner_numba

    return _eisner_numba
