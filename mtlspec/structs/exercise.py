"""Compile the structured algorithms on toy input, so that their machine code lies in the cache before it is needed.

A first compilation takes seconds. Workers that train their first models at the same time would all pay for it; one
process that is otherwise idle can pay for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch

from mtlspec.structs import arborescence, cky, eisner, gru, linear_chain, span_packing, tree_crf
from mtlspec.structs.packing import Packing


def exercise(sources: Iterable[str]) -> None:
    """Compile what these sources, named as in code fingerprints, can call."""
    for source in sorted(set(sources) & EXERCISES.keys()):
        EXERCISES[source]()


def _gru() -> None:
    rows = torch.zeros(2, 1, requires_grad=True)
    weights = gru.Weights(torch.zeros(3, 1), torch.zeros(3, 1), torch.zeros(3), torch.zeros(3))
    torch.autograd.grad(gru.bigru_layer(rows, weights, weights, Packing.of(torch.tensor([2]))).sum(), rows)


def _linear_chain() -> None:
    emissions = torch.zeros(1, 2, 2, requires_grad=True)
    transitions, ends = torch.zeros(2, 2), torch.zeros(2)
    mask, tags = torch.ones(1, 2, dtype=torch.bool), torch.zeros(1, 2, dtype=torch.long)
    torch.autograd.grad(linear_chain.nll(emissions, transitions, ends, ends, mask, tags).sum(), emissions)
    linear_chain.viterbi(emissions.detach(), transitions, ends, ends, mask)


def _tree_crf() -> None:
    spans = torch.zeros(1, 3, 3, requires_grad=True)
    torch.autograd.grad(tree_crf.log_partition(spans, torch.tensor([2])).sum(), spans)


def _span_packing() -> None:
    scores, starts, offsets = torch.ones(2), torch.tensor([0, 1]), torch.tensor([0, 2])
    span_packing.greedy(scores, starts, starts + 1, offsets, nested=False)
    span_packing.best_disjoint(scores, starts, starts + 1, offsets)


def _trees(best_trees: Callable[[torch.Tensor, torch.Tensor], object]) -> None:
    best_trees(torch.zeros(1, 3, 3), torch.tensor([2]))


EXERCISES: dict[str, Callable[[], None]] = {
    "structs/_arborescence_numba.py": lambda: _trees(arborescence.best_trees),
    "structs/_cky_numba.py": lambda: _trees(cky.best_trees),
    "structs/_eisner_numba.py": lambda: _trees(eisner.best_trees),
    "structs/_gru_numba.py": _gru,
    "structs/_linear_chain_numba.py": _linear_chain,
    "structs/_span_packing_numba.py": _span_packing,
    "structs/_tree_crf_numba.py": _tree_crf,
}
