"""Span packing against enumeration of all sets of spans."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.structs import span_packing

NEVER = -math.inf
SCORES = st.one_of(st.integers(-2, 3), st.floats(-9, 9), st.just(NEVER))
Span = tuple[float, int, int]


@st.composite
def groups(draw, value=SCORES) -> list[list[Span]]:
    def span():
        start = draw(st.integers(0, 5))
        return float(draw(value)), start, draw(st.integers(start + 1, 6))

    return [[span() for _ in range(draw(st.integers(0, 7)))] for _ in range(draw(st.integers(0, 3)))]


def flat(groups: list[list[Span]]) -> tuple[torch.Tensor, ...]:
    spans = [span for group in groups for span in group]
    offsets = torch.tensor([0, *itertools.accumulate(len(group) for group in groups)])
    scores = torch.tensor([score for score, _, _ in spans], dtype=torch.float64)
    starts, ends = (torch.tensor([span[i] for span in spans], dtype=torch.int64) for i in (1, 2))
    return scores, starts, ends, offsets


def split(groups: list[list[Span]], kept: torch.Tensor) -> list[list[int]]:
    """Numbers of the kept spans within each group."""
    assert kept.dtype == torch.bool
    flags = iter(kept.tolist())
    return [[i for i in range(len(group)) if next(flags)] for group in groups]


def disjoint(one: Span, other: Span) -> bool:
    return one[2] <= other[1] or other[2] <= one[1]


def fit(one: Span, other: Span, nested: bool) -> bool:
    words, others = set(range(one[1], one[2])), set(range(other[1], other[2]))
    return disjoint(one, other) or (nested and (words < others or others < words))


def chosen_one_by_one(group: list[Span], nested: bool) -> list[int]:
    """The definition: take the best span left, strike out what does not fit to it."""
    left = [i for i, span in enumerate(group) if span[0] > NEVER]
    taken = []
    while left:
        best = max(left, key=lambda i: (group[i][0], -i))
        taken.append(best)
        left = [i for i in left if i != best and fit(group[i], group[best], nested)]
    return sorted(taken)


def best_total(group: list[Span]) -> float:
    sets = (s for size in range(len(group) + 1) for s in itertools.combinations(group, size))
    fine = (s for s in sets if all(itertools.starmap(disjoint, itertools.combinations(s, 2))))
    return max(sum(score for score, _, _ in s) for s in fine)


@pytest.mark.parametrize("nested", [False, True])
@given(groups=groups())
def test_greedy_takes_the_best_span_that_still_fits(nested, groups):
    found = split(groups, span_packing.greedy(*flat(groups), nested=nested))
    assert found == [chosen_one_by_one(group, nested) for group in groups]


@given(groups=groups())
def test_no_set_without_overlaps_is_better(groups):
    for group, numbers in zip(groups, split(groups, span_packing.best_disjoint(*flat(groups))), strict=True):
        taken = [group[i] for i in numbers]
        assert all(itertools.starmap(disjoint, itertools.combinations(taken, 2)))
        assert all(score > 0 for score, _, _ in taken)
        assert sum(score for score, _, _ in taken) == pytest.approx(best_total(group))


@given(groups=groups(st.integers(0, 1)))
def test_ties_do_not_depend_on_the_other_groups(groups):
    for pack in (span_packing.best_disjoint, lambda *spans: span_packing.greedy(*spans, nested=True)):
        together = split(groups, pack(*flat(groups)))
        assert together == [split([group], pack(*flat([group])))[0] for group in groups]


def test_ties_go_to_the_span_given_first_and_to_the_smaller_set():
    twins = [[(1.0, 0, 1), (1.0, 0, 1), (1.0, 1, 3)]]
    assert split(twins, span_packing.greedy(*flat(twins), nested=False)) == [[0, 2]]
    assert split(twins, span_packing.best_disjoint(*flat(twins))) == [[0, 2]]
    useless = [[(2.0, 0, 2), (0.0, 2, 3), (2.0, 0, 3)]]
    assert split(useless, span_packing.best_disjoint(*flat(useless))) == [[0]]


def test_two_good_spans_beat_one_that_is_better_than_each():
    spans = [[(3.0, 0, 4), (2.0, 0, 2), (2.0, 2, 4)]]
    assert split(spans, span_packing.greedy(*flat(spans), nested=False)) == [[0]]
    assert split(spans, span_packing.best_disjoint(*flat(spans))) == [[1, 2]]


def test_nothing_is_taken_from_nothing():
    none: list[list[Span]] = [[], [(math.nan, 0, 1), (NEVER, 1, 2)], []]
    assert split(none, span_packing.greedy(*flat(none), nested=True)) == [[], [], []]
    assert split(none, span_packing.best_disjoint(*flat(none))) == [[], [], []]
    assert span_packing.best_disjoint(*flat([])).shape == (0,)


def test_a_span_of_one_word_and_half_precision_are_taken():
    scores, *rest = flat([[(0.5, 0, 1)]])
    assert span_packing.greedy(scores.bfloat16(), *rest, nested=False).tolist() == [True]
    assert span_packing.best_disjoint(scores.half().requires_grad_(), *rest).tolist() == [True]


def test_an_empty_span_is_refused():
    with pytest.raises(ValueError, match="end after its start"):
        span_packing.best_disjoint(*flat([[(1.0, 2, 2)]]))


def test_compilation_is_loaded_only_when_used():
    code = "import sys; import mtlspec.structs.span_packing; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
