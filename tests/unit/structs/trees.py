"""All dependency trees of a few words, found without the code under test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from hypothesis import strategies as st

NEVER = -math.inf
Heads = tuple[int, ...]


def reaches_root(heads: Sequence[int]) -> bool:
    """Every word climbs to ROOT within as many steps as there are words."""
    for word in range(1, len(heads) + 1):
        node = word
        for _ in heads:
            node = heads[node - 1] if node else 0
        if node:
            return False
    return True


def crosses(heads: Sequence[int]) -> bool:
    """Whether two arcs cross when drawn above the words, ROOT standing on the left."""
    arcs = [sorted((head, word)) for word, head in enumerate(heads, 1)]
    return any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))


@cache
def all_trees(size: int) -> tuple[Heads, ...]:
    """Every tree of `size` words with exactly one child of ROOT."""
    every = itertools.product(range(size + 1), repeat=size)
    return tuple(heads for heads in every if heads.count(0) == min(size, 1) and reaches_root(heads))


@cache
def projective_trees(size: int) -> tuple[Heads, ...]:
    return tuple(heads for heads in all_trees(size) if not crosses(heads))


def score(scores: list[list[float]], heads: Sequence[int]) -> float:
    """scores[d][h]"""
    return math.fsum(scores[word][head] for word, head in enumerate(heads, 1)) if heads else 0.0


@dataclass
class Case:
    scores: torch.Tensor  # float64 [B, N + 1, N + 1]
    lengths: torch.Tensor  # int64 [B]


@st.composite
def cases(draw: st.DrawFn, value: st.SearchStrategy[float], longest: int) -> Case:
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=3))
    wide = max(lengths) + draw(st.integers(1, 2))
    count = len(lengths) * wide * wide
    flat = draw(st.lists(value, min_size=count, max_size=count))
    return Case(torch.tensor(flat, dtype=torch.float64).view(len(lengths), wide, wide), torch.tensor(lengths))


MANY_TIES = st.integers(-1, 1).map(float)
ANY = st.one_of(MANY_TIES, st.floats(-30, 30), st.just(NEVER))
