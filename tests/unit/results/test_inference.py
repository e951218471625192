"""Differences of configurations, families of tests, and what cannot be tested."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from bench._simulated import METRICS, World, simulate
from mtlspec.errors import StageError
from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.significance import holm, paired_randomisation
from mtlspec.results.inference import Difference, compare_models, compare_runs, compare_scores, corrected

ACCURACY = TagAccuracy()


def _runs(*correct: list[int]) -> list[np.ndarray]:
    return [np.stack([np.array(one), np.full(len(one), 10)], 1) for one in correct]


def test_scores_alone_give_welchs_test_with_its_interval() -> None:
    a, b = [80.0, 83.0, 81.0], [84.0, 90.0, 86.0]
    found = compare_scores(a, b)
    expected = ttest_ind(a, b, equal_var=False)
    low, high = expected.confidence_interval(0.95)
    assert (found.difference, found.p) == pytest.approx((-16 / 3, expected.pvalue))
    assert found.interval == pytest.approx((low, high))
    assert found.seeds == (3, 3)
    assert found.sentences is None
    assert found.effect == pytest.approx(-16 / 3 / ((7 / 3 + 28 / 3) / 2) ** 0.5 * (1 - 3 / 15))
    assert found.detectable is not None
    assert found.detectable > high - found.difference  # four of five need more than one of two
    assert found.detectable_at(0.001) > 2 * found.detectable


@pytest.mark.parametrize("metric", list(METRICS))
def test_the_interval_excludes_zero_exactly_where_p_is_small(metric: str) -> None:
    for seed, shift in enumerate((0.0, 0.04, 0.08, 0.15)):
        a, b = simulate(World(shift=shift, examples=80), metric, (3, 4), 1, seed)
        found = compare_runs(METRICS[metric][0], list(a[0]), list(b[0]))
        assert found.interval is not None
        assert found.p is not None
        assert (found.p < 0.05) == (found.interval[0] > 0 or found.interval[1] < 0)
        assert Difference.restored(json.loads(json.dumps(found.stored()))) == found
        other = compare_runs(METRICS[metric][0], list(b[0]), list(a[0]))
        assert (other.p, other.difference) == pytest.approx((found.p, -found.difference))


def test_one_seed_allows_no_test_of_configurations_and_says_so() -> None:
    found = compare_runs(ACCURACY, _runs([8, 7, 9]), _runs([5, 6, 5], [4, 6, 6]))
    assert found.difference == pytest.approx(80 - 160 / 3)
    assert (found.p, found.interval, found.detectable) == (None, None, None)
    assert "one seed" in found.why
    assert found.not_worse(1.0) == "undecided"


def test_runs_of_other_columns_are_told_as_such() -> None:
    with pytest.raises(StageError, match=r"E437.*different numbers of columns of counts: 2, 3"):
        compare_runs(ACCURACY, _runs([8, 8]), [np.ones((2, 3), np.int64)])


def test_equal_scores_are_no_certainty() -> None:
    same = compare_runs(ACCURACY, _runs([8, 8], [8, 8]), _runs([8, 8], [8, 8]))
    assert (same.difference, same.p, same.why) == (0.0, 1.0, "")
    constant = compare_runs(ACCURACY, _runs([8, 8], [8, 8]), _runs([9, 9], [9, 9]))
    assert constant.p is None
    assert "neither seeds nor test examples vary" in constant.why
    # Three seeds with the very same score, by other sentences: the noise of sentences still counts.
    rng = np.random.default_rng(0)
    a = _runs(*(rng.permutation([9] * 20 + [7] * 20).tolist() for _ in range(3)))
    b = _runs(*(rng.permutation([9] * 21 + [7] * 19).tolist() for _ in range(3)))
    assert compare_scores([80, 80, 80], [80.5, 80.5, 80.5]).p is None
    found = compare_runs(ACCURACY, a, b)
    assert found.p is not None
    assert found.p > 0.3


def test_a_configuration_that_always_fails_is_seen() -> None:
    rng = np.random.default_rng(0)
    a = _runs(*(rng.integers(6, 11, 50).tolist() for _ in range(3)))
    found = compare_runs(ACCURACY, a, _runs(*([0] * 50 for _ in range(3))))
    assert found.p is not None
    assert found.p < 0.001


def test_runs_on_other_examples_are_refused() -> None:
    with pytest.raises(StageError, match=r"E437.*different numbers of scored test examples: 2, 3"):
        compare_runs(ACCURACY, _runs([8, 8], [8, 8]), _runs([8, 8, 8], [9, 9, 9]))


def test_non_inferiority_is_read_from_the_interval() -> None:
    def judged(low: float, high: float) -> str:
        return Difference((low + high) / 2, "runs", (3, 3), interval=(low, high)).not_worse(1.0)

    assert judged(-0.9, 0.7) == "not worse"
    assert judged(-1.77, -0.03) == "undecided"  # -0.90 ± 0.87
    assert judged(-3.0, -1.2) == "worse"


def test_sentences_as_unit_keep_the_randomisation_test() -> None:
    rng = np.random.default_rng(4)
    a, b = ([*_runs(*(rng.integers(4, 9, 25).tolist() for _ in range(2)))] for _ in "ab")
    found = compare_models(ACCURACY, a, b, 300, 7)
    assert found.unit == "sentences"
    assert found.p == paired_randomisation(ACCURACY, a[0] + a[1], b[0] + b[1], 300, 7)
    assert (found.interval, found.detectable) == (None, None)


@given(st.lists(st.one_of(st.none(), st.just(float("nan")), st.floats(0, 1)), max_size=8))
@settings(max_examples=50)
def test_a_family_corrects_what_was_tested_and_knows_its_size(ps: list[float | None]) -> None:
    family, adjusted = corrected("pairs with stl", ps, 0.05)
    tested = [p for p in ps if p is not None and p == p]
    assert family.size == len(tested)
    assert [p for p in adjusted if p is not None] == pytest.approx(holm(tested).tolist())
    assert [p is None for p in adjusted] == [p is None or p != p for p in ps]
    assert "pairs with stl" in family.words
    assert family.first_level == pytest.approx(0.05 / max(len(tested), 1))
