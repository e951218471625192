"""The best binary tree against enumeration of all of them, on both backends."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings

from mtlspec.structs import _cky_numba as compiled
from mtlspec.structs import _cky_torch as vectorised
from mtlspec.structs import cky
from tests.unit.structs.binary_trees import NEVER, Case, Tree, cases, trees

BACKENDS = pytest.mark.parametrize("backend", [compiled, vectorised], ids=["compiled", "vectorised"])


def found_trees(spans: torch.Tensor, lengths: torch.Tensor) -> list[Tree]:
    parts = spans.split([max(2 * n - 1, 0) for n in lengths.tolist()])
    return [tuple((i, j) for i, j in part.tolist()) for part in parts]


@BACKENDS
@given(case=cases())
@settings(max_examples=60)
def test_the_best_tree_is_found(backend: Any, case: Case) -> None:
    spans, scores = backend.best_trees(case.scores, case.lengths)
    for b, tree in enumerate(found_trees(spans, case.lengths)):
        totals = case.totals(b)
        if not totals:
            assert scores[b] == 0.0
            continue
        best = max(totals.values())
        assert scores[b].item() == pytest.approx(best)
        assert tree in totals and (best == NEVER or totals[tree] == pytest.approx(best))


@BACKENDS
@given(case=cases(whole=True, never=False))
@settings(max_examples=60)
def test_of_equal_trees_the_one_with_the_leftmost_split_at_the_top_wins(backend: Any, case: Case) -> None:
    for b, tree in enumerate(found_trees(backend.best_trees(case.scores, case.lengths)[0], case.lengths)):
        totals = case.totals(b)
        if totals:
            best = max(totals.values())
            assert tree == next(t for t in trees(0, int(case.lengths[b])) if totals[t] == best)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_backends_agree_on_long_sentences(scale: float) -> None:
    lengths = torch.tensor([60, 1, 2, 33, 0])
    scores = torch.randn(5, 61, 61, generator=torch.Generator().manual_seed(2), dtype=torch.float64) * scale
    one, other = (backend.best_trees(scores, lengths) for backend in (compiled, vectorised))
    assert torch.equal(one[0], other[0]) and torch.equal(one[1], other[1])


def test_a_planted_tree_comes_back_in_the_order_of_its_spans() -> None:
    planted = [(0, 4), (0, 1), (1, 4), (1, 3), (1, 2), (2, 3), (3, 4)]
    scores = torch.zeros(1, 5, 5)
    for i, j in planted:
        scores[0, i, j] = 1.0
    spans, best = cky.best_trees(scores, torch.tensor([4]))
    assert [tuple(span) for span in spans.tolist()] == planted
    assert best.tolist() == [7.0] and best.dtype == torch.float32
