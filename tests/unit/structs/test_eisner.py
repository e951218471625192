"""Eisner's algorithm against the enumeration of all projective trees, on both backends."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.structs import _eisner_numba as compiled
from mtlspec.structs import _eisner_torch as vectorised
from mtlspec.structs import arborescence, eisner
from mtlspec.structs.arcs import is_single_rooted
from tests.unit.structs.trees import ANY, MANY_TIES, NEVER, Case, all_trees, cases, crosses, projective_trees, score

BACKENDS = pytest.mark.parametrize("backend", [compiled, vectorised], ids=["compiled", "vectorised"])


@BACKENDS
@given(case=cases(ANY, longest=5))
@settings(max_examples=100)
def test_the_tree_is_the_best_of_all_projective_trees_with_one_root(backend: Any, case: Case) -> None:
    found = backend.best_trees(case.scores, case.lengths)
    for b, size in enumerate(case.lengths.tolist()):
        heads = tuple(found[b, :size].tolist())
        assert heads in projective_trees(size)
        assert found[b, size:].eq(0).all()
        table = case.scores[b].tolist()
        best = max(score(table, tree) for tree in projective_trees(size))
        assert score(table, heads) == pytest.approx(best, abs=1e-9)


@given(case=cases(MANY_TIES, longest=7))
@settings(max_examples=100)
def test_both_backends_find_the_same_tree_among_equals(case: Case) -> None:
    found = [backend.best_trees(case.scores, case.lengths).tolist() for backend in (compiled, vectorised)]
    assert found[0] == found[1]


@given(data=st.data(), size=st.integers(1, 5))
@settings(max_examples=100)
def test_the_only_possible_tree_is_found(data: st.DataObject, size: int) -> None:
    only = data.draw(st.sampled_from(projective_trees(size)))
    scores = torch.full((1, size + 1, size + 1), NEVER)
    for word, head in enumerate(only, 1):
        scores[0, word, head] = data.draw(st.floats(-1e6, 1e6, width=32))
    assert tuple(eisner.best_trees(scores, torch.tensor([size]))[0].tolist()) == only


def test_on_long_sentences_both_backends_agree_and_no_arc_crosses() -> None:
    scores = torch.randn(6, 38, 38, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    lengths = torch.tensor([37, 20, 1, 0, 2, 36])
    found = compiled.best_trees(scores, lengths)
    assert torch.equal(found, vectorised.best_trees(scores, lengths))
    for heads, size in zip(found.tolist(), lengths.tolist(), strict=True):
        assert not crosses(heads[:size])


def test_a_projective_best_tree_is_found_by_both_algorithms() -> None:
    size = 30
    scores = torch.randn(4, size + 1, size + 1, generator=torch.Generator().manual_seed(6))
    chain = torch.arange(1, size + 1)
    scores[:, chain, chain - 1] += 20
    expected = [list(range(size))] * 4
    assert eisner.best_trees(scores, torch.full((4,), size)).tolist() == expected
    assert arborescence.best_trees(scores, torch.full((4,), size)).tolist() == expected


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers_still_give_a_projective_tree(bad: float) -> None:
    heads = eisner.best_trees(torch.full((1, 5, 5), bad), torch.tensor([4]))
    assert tuple(heads[0].tolist()) in projective_trees(4)


def test_scores_on_padding_are_ignored_and_the_input_is_left_alone() -> None:
    scores = torch.randn(2, 6, 6, generator=torch.Generator().manual_seed(3), requires_grad=True)
    lengths = torch.tensor([3, 5])
    before = scores.detach().clone()
    found = eisner.best_trees(scores, lengths)
    assert torch.equal(scores.detach(), before)
    assert not found.requires_grad and found.dtype == torch.int64
    other = before.clone()
    other[0, 4:], other[0, :, 4:], other[:, 0] = 99.0, math.nan, 99.0
    assert torch.equal(eisner.best_trees(other, lengths), found)
    assert torch.equal(eisner.best_trees(before[:1, :4, :4], lengths[:1]), found[:1, :3])


@BACKENDS
@pytest.mark.parametrize(("size", "expected"), [(0, []), (1, [0])])
def test_the_shortest_sentences(backend: Any, size: int, expected: list[int]) -> None:
    scores = torch.zeros(1, size + 1, size + 1, dtype=torch.float64)
    assert backend.best_trees(scores, torch.tensor([size])).tolist() == [expected]


@given(heads=st.integers(0, 5).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_trees_with_one_root_are_told_from_other_heads(heads: list[int]) -> None:
    size = len(heads)
    row = torch.tensor([[*heads, 1, 9]])
    mask = torch.arange(size + 2).unsqueeze(0) < size
    assert is_single_rooted(row, mask).tolist() == [bool(size) and tuple(heads) in all_trees(size)]
