"""The few examples that a model trains on: any of them, or as many of every class."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.train.drawing import balanced_sample, sample

CLASSES = st.lists(st.integers(0, 4), min_size=1, max_size=40)


@given(CLASSES, st.integers(1, 45), st.integers(0, 5))
def test_no_class_has_more_than_one_above_another_that_has_any_left(classes: list[int], limit: int, seed: int) -> None:
    rows = torch.arange(len(classes))
    drawn = balanced_sample(rows, torch.tensor(classes), limit, seed)
    assert len(drawn) == min(limit, len(classes))
    assert torch.equal(drawn, drawn.unique())
    there, taken = Counter(classes), Counter(classes[row] for row in drawn.tolist())
    left = [name for name in there if taken[name] < there[name]]
    assert all(taken[name] + 1 >= taken[other] for name in left for other in there)


@given(CLASSES, st.integers(1, 40), st.integers(1, 40), st.integers(0, 5))
def test_a_smaller_draw_is_part_of_a_larger_one(classes: list[int], a: int, b: int, seed: int) -> None:
    rows = torch.arange(len(classes))
    small, large = (balanced_sample(rows, torch.tensor(classes), limit, seed).tolist() for limit in sorted((a, b)))
    assert set(small) <= set(large)


def test_the_draw_is_a_matter_of_the_seed_and_of_the_rows_that_carry_the_layer() -> None:
    classes = torch.tensor([0, 1, -1, 1, 0, 0, 0, 1, -1, 0])  # -1: not labelled
    rows = torch.tensor([0, 1, 3, 4, 5, 6, 7, 9])
    draws = [balanced_sample(rows, classes, 4, seed) for seed in range(30)]
    assert all(torch.isin(drawn, rows).all() for drawn in draws)
    assert all(sorted(classes[drawn].tolist()) == [0, 0, 1, 1] for drawn in draws)
    assert len({tuple(drawn.tolist()) for drawn in draws}) > 5
    assert torch.equal(draws[3], balanced_sample(rows, classes, 4, 3))


def test_golden_draws() -> None:
    """Bits of a study: they must never change."""
    rows, classes = torch.arange(12), torch.tensor([0, 1, 2] * 4)
    assert [sample(rows, 12, 4, seed).tolist() for seed in (1, 2)] == [[0, 2, 5, 6], [1, 3, 8, 9]]
    assert [balanced_sample(rows, classes, 4, seed).tolist() for seed in (1, 2)] == [[0, 4, 5, 6], [1, 3, 8, 9]]


@pytest.mark.parametrize("limit", [8, 9, 100])
def test_as_many_as_there_are_is_all(limit: int) -> None:
    rows = torch.arange(8)
    assert torch.equal(balanced_sample(rows, torch.zeros(8, dtype=torch.int64), limit, 1), rows)
