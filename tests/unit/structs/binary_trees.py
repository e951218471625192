"""All binary trees over a few words, and small random cases of span scores: what brute force needs."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import torch
from hypothesis import strategies as st

NEVER = -math.inf
SCALES = (0.0, 2.0, 30.0)
Tree = tuple[tuple[int, int], ...]


@functools.cache
def trees(start: int, end: int) -> tuple[Tree, ...]:
    """Every binary tree over a range of words as its spans, outer and left first; leftmost splits first."""
    if end - start == 1:
        return (((start, end),),)
    return tuple(
        ((start, end), *left, *right)
        for split in range(start + 1, end)
        for left in trees(start, split)
        for right in trees(split, end)
    )


@dataclass
class Case:
    """Scores [B, F, F] and lengths of a small batch."""

    scores: torch.Tensor
    lengths: torch.Tensor

    def totals(self, b: int) -> dict[Tree, float]:
        """Every tree of sentence b with its score."""
        values = self.scores[b].tolist()
        n = int(self.lengths[b])
        return {tree: sum(values[i][j] for i, j in tree) for tree in (trees(0, n) if n else ())}


@st.composite
def cases(draw: st.DrawFn, least: int = 0, whole: bool | None = None, never: bool = True) -> Case:
    """Up to three sentences of up to six words; what stands on padding and below the diagonal is random, too.

    `whole`: small integers, so that many trees are equal; `never`: some scores are -inf.
    """
    lengths = draw(st.lists(st.integers(least, 6), min_size=1, max_size=3).filter(any))
    shape = (len(lengths), max(lengths) + 1, max(lengths) + 1)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    scores = torch.randn(shape, generator=generator, dtype=torch.float64) * draw(st.sampled_from(SCALES))
    if draw(st.booleans()) if whole is None else whole:
        scores = scores.round().clamp(-2, 2)
    lost = torch.rand(shape, generator=generator) < draw(st.sampled_from([0.0, 0.1, 0.4]) if never else st.just(0.0))
    return Case(scores.masked_fill(lost, NEVER), torch.tensor(lengths))


def log_sum(scores: list[float]) -> float:
    top = max(scores)
    return top if top == NEVER else top + math.log(sum(math.exp(s - top) for s in scores))
