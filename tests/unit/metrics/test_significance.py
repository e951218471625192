"""Significance tests against full enumeration, published examples and scipy."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.metrics.metric import percentage, precision_recall_f1
from mtlspec.metrics.significance import holm, paired_randomisation


def _accuracy(totals: np.ndarray) -> np.ndarray:
    return percentage(totals[..., 0], totals[..., 1])


def _f1(totals: np.ndarray) -> np.ndarray:
    return precision_recall_f1(totals)["f1"]


def _exact(a: np.ndarray, b: np.ndarray, main) -> float:
    """The share of all ways to change sides whose difference is at least the observed one."""
    observed = abs(main(a.sum(0)) - main(b.sum(0)))
    sides = np.array(list(product([False, True], repeat=len(a))))[..., None]
    first, second = np.where(sides, b, a).sum(1), np.where(sides, a, b).sum(1)
    return float(np.mean(np.abs(main(first) - main(second)) >= observed - 1e-9))


@pytest.mark.parametrize("main", [_accuracy, _f1])
def test_randomisation_approaches_full_enumeration(main) -> None:
    rng = np.random.default_rng(3)
    width = 2 if main is _accuracy else 3
    a, b = (np.sort(rng.integers(0, 9, (10, width)), axis=1).astype(np.int64) for _ in "ab")
    exact = _exact(a, b, main)
    assert 0.02 < exact < 0.98
    assert paired_randomisation(a, b, main, 20_000, 1) == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("main", [_accuracy, _f1])
@given(data=st.data())
@settings(max_examples=40)
def test_few_differing_sentences_give_the_exact_p(main, data) -> None:
    width = 2 if main is _accuracy else 3
    row = st.lists(st.integers(0, 5), min_size=width, max_size=width).map(sorted)
    rows = data.draw(st.lists(st.tuples(row, row), min_size=1, max_size=6))
    a, b = (np.array(side, np.int64) for side in zip(*rows, strict=True))
    assert paired_randomisation(a, b, main, 64, 1) == pytest.approx(_exact(a, b, main))


def test_equal_models_have_p_one_and_opposite_ones_the_least_possible() -> None:
    a = np.stack([np.full(40, 9), np.full(40, 10)], 1)
    b = np.stack([np.full(40, 1), np.full(40, 10)], 1)
    assert paired_randomisation(a, a, _accuracy, 500, 1) == 1.0
    assert paired_randomisation(a, b, _accuracy, 500, 1) == 1 / 501


def test_the_seed_decides_and_the_order_of_models_does_not() -> None:
    rng = np.random.default_rng(0)
    a, b = (np.stack([rng.integers(3, 9, 30), np.full(30, 10)], 1) for _ in "ab")
    one = paired_randomisation(a, b, _accuracy, 700, 5)
    assert one == paired_randomisation(a, b, _accuracy, 700, 5)
    assert one == paired_randomisation(b, a, _accuracy, 700, 5)
    assert one != paired_randomisation(a, b, _accuracy, 700, 6)


def test_models_on_different_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="paired counts"):
        paired_randomisation(np.ones((3, 2), np.int64), np.ones((4, 2), np.int64), _accuracy, 10, 1)


def test_holm_worked_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert len(holm([])) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(max_examples=60)
def test_holm_keeps_the_order_and_lies_between_p_and_bonferroni(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= value <= min(1.0, len(ps) * p) + 1e-12 for p, value in zip(ps, adjusted, strict=True))
    assert all(np.diff(adjusted[np.argsort(ps, kind="stable")]) >= 0)
