"""Chu-Liu-Edmonds against the enumeration of all trees."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.structs import arborescence
from tests.unit.structs.trees import ANY, MANY_TIES, NEVER, Case, all_trees, cases, reaches_root, score


@given(case=cases(ANY, longest=5))
@settings(max_examples=150)
def test_the_tree_is_the_best_of_all_trees_with_one_root(case: Case) -> None:
    found = arborescence.best_trees(case.scores, case.lengths)
    for b, size in enumerate(case.lengths.tolist()):
        heads = tuple(found[b, :size].tolist())
        assert heads in all_trees(size)
        assert found[b, size:].eq(0).all()
        table = case.scores[b].tolist()
        assert score(table, heads) == pytest.approx(max(score(table, tree) for tree in all_trees(size)), abs=1e-9)


@given(case=cases(MANY_TIES, longest=5))
@settings(max_examples=100)
def test_among_many_equals_the_score_is_still_exactly_the_best_and_the_choice_is_fixed(case: Case) -> None:
    found = arborescence.best_trees(case.scores, case.lengths)
    assert torch.equal(found, arborescence.best_trees(case.scores.clone(), case.lengths))
    for b, size in enumerate(case.lengths.tolist()):
        table = case.scores[b].tolist()
        assert score(table, found[b, :size].tolist()) == max(score(table, tree) for tree in all_trees(size))


@given(data=st.data(), size=st.integers(1, 5))
@settings(max_examples=100)
def test_the_only_possible_tree_is_found(data: st.DataObject, size: int) -> None:
    only = data.draw(st.sampled_from(all_trees(size)))
    scores = torch.full((1, size + 1, size + 1), NEVER)
    for word, head in enumerate(only, 1):
        scores[0, word, head] = data.draw(st.floats(-1e6, 1e6, width=32))
    assert tuple(arborescence.best_trees(scores, torch.tensor([size]))[0].tolist()) == only


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e30])
def test_a_single_root_is_found_however_much_more_a_second_one_would_score(scale: float) -> None:
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(20, 6, 6, generator=generator, dtype=torch.float64)
    scores[:, :, 0] += 50  # every word would hang on ROOT
    found = arborescence.best_trees(scores * scale, torch.full((20,), 5))
    for b, heads in enumerate(found.tolist()):
        assert tuple(heads) in all_trees(5)
        best = max(score(scores[b].tolist(), tree) for tree in all_trees(5))
        assert score(scores[b].tolist(), heads) == pytest.approx(best)


def test_where_every_tree_is_forbidden_the_fewest_forbidden_arcs_are_taken() -> None:
    scores = torch.full((1, 4, 4), NEVER)
    scores[0, 2, 1], scores[0, 3, 2] = 1.0, -5.0
    assert arborescence.best_trees(scores, torch.tensor([3])).tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers_still_give_a_tree(bad: float) -> None:
    scores = torch.full((2, 9, 9), bad)
    scores[1] = torch.where(torch.rand(9, 9, generator=torch.Generator().manual_seed(2)) < 0.5, scores[1], 0.0)
    for heads in arborescence.best_trees(scores, torch.tensor([8, 5])).tolist():
        size = 8 if heads[5:].count(0) < 3 else 5
        assert reaches_root(heads[:size])
        assert heads[:size].count(0) == 1


def test_long_sentences_give_trees_that_no_other_head_improves() -> None:
    """Changing the head of one word, where that keeps the tree a tree with one root, never scores more."""
    size = 40
    scores = torch.randn(3, size + 1, size + 1, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    for table, heads in zip(
        scores.tolist(), arborescence.best_trees(scores, torch.full((3,), size)).tolist(), strict=True
    ):
        assert reaches_root(heads) and heads.count(0) == 1
        for word, head in ((w, h) for w in range(1, size + 1) for h in range(1, size + 1)):
            other = [*heads[: word - 1], head, *heads[word:]]
            if heads[word - 1] and head != word and reaches_root(other):
                assert table[word][head] <= table[word][heads[word - 1]]


def test_scores_on_padding_are_ignored_and_the_input_is_left_alone() -> None:
    scores = torch.randn(2, 6, 6, generator=torch.Generator().manual_seed(3), requires_grad=True)
    lengths = torch.tensor([3, 5])
    before = scores.detach().clone()
    found = arborescence.best_trees(scores, lengths)
    assert torch.equal(scores.detach(), before)
    assert not found.requires_grad and found.dtype == torch.int64
    other = before.clone()
    other[0, 4:], other[0, :, 4:], other[:, 0] = 99.0, math.nan, 99.0
    assert torch.equal(arborescence.best_trees(other, lengths), found)
    assert torch.equal(arborescence.best_trees(before[:1, :4, :4], lengths[:1]), found[:1, :3])


@pytest.mark.parametrize(("size", "expected"), [(0, []), (1, [0])])
def test_the_shortest_sentences(size: int, expected: list[int]) -> None:
    assert arborescence.best_trees(torch.zeros(1, size + 1, size + 1), torch.tensor([size])).tolist() == [expected]


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit together"):
        arborescence.best_trees(torch.zeros(1, 3, 4), torch.tensor([2]))
    with pytest.raises(ValueError, match="lengths 3 to 3 with 2 words"):
        arborescence.best_trees(torch.zeros(1, 3, 3), torch.tensor([3]))
