"""Dissociation: the published numbers recomputed, misprints named, every verdict, and a brute-force check."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.analyses._iap.dissociation import Dissociation, Judged, judge, relative_performance, verdict
from mtlspec.results.inference import Difference, compare_scores

# Li et al. 2023, tasks MNLI, QQP, QNLI, AG, SST-2. Table 3: rows are whose heads are pruned, columns are evaluated.
TABLE_3 = np.array(
    [
        [58.23, 71.52, 61.39, 91.99, 85.32],
        [62.54, 69.43, 60.80, 91.54, 85.13],
        [59.29, 70.96, 57.50, 91.88, 86.35],
        [65.88, 76.28, 69.35, 80.01, 85.09],
        [69.50, 77.40, 73.96, 86.51, 82.45],
    ]
)
BASE = np.array([83.91, 87.64, 90.26, 94.50, 92.05])
TABLE_10 = np.array(  # columns are task A, rows are task B
    [
        [0, 2.385, 4.321, 12.671, 3.115],
        [5.161, 0, 3.657, 12.198, 2.907],
        [1.275, 1.746, 0, 12.555, 4.236],
        [9.169, 7.819, 13.135, 0, 2.865],
        [13.496, 9.091, 18.246, 6.874, 0],
    ]
)
# D_A and D_B of ten pairs: GPT, GPT-2, TinyBERT, BERT base, BERT base frozen, BERT large, RoBERTa, DeBERTa.
TABLE_9 = """
 0.28  3.76  2.10 1.36 16.75 10.47 16.49 1.13  1.36 0.80 18.19  3.60 25.19  1.08 28.74  3.51 31.34 0.75 2.51  4.08
 4.76  3.26  3.09 0.71 15.44  3.29 17.69 5.79 12.64 0.66 19.24  2.39 50.19  4.18 18.62  4.69 16.49 6.81 3.60  6.61
 2.04 20.10  3.82 1.19 35.66  5.36 31.85 4.71 14.42 0.63  8.70  6.54 24.39  2.35 14.87  6.28 35.59 1.63 1.08  1.59
 2.78  2.60  2.34 2.63 11.36 16.26 13.81 0.21  1.92 4.82 28.97 10.39 11.34  3.18 13.27  6.91 32.87 3.28 2.98  4.05
-0.96  0.35 -0.13 1.21  5.59  4.53  3.27 1.20  0.01 0.15  0.82  3.94 -1.07  6.95  6.74  0.90  7.68 2.14 2.48  3.90
 2.43  0.83  5.69 3.55 17.31  6.16 19.83 9.81  0.02 5.90 22.40  2.88 21.20  6.52 17.90  9.56 20.44 8.73 7.72  7.23
 8.56 10.86  1.31 4.32 17.43 38.23  5.48 8.40  2.43 0.54 23.27 22.73 22.19  5.59 15.96 47.73 16.09 5.01 6.62  6.16
 6.21  4.64 14.21 0.02 24.11  8.47 27.03 2.65  9.50 0.02 11.65  9.50 20.51 13.33  3.42 16.92 20.36 2.33 4.97 17.78
"""
FIGURE_2 = """
 2.02 1.73 13.61  8.81 1.08 10.89 13.13 16.12 16.04  3.30  8.67
 4.01 1.90  9.36 11.74 6.65 10.82 27.18 11.66 11.65  5.10 10.01
11.02 2.51 20.51 18.28 7.52  7.62 13.37 10.58 18.61  1.33 11.14
 2.69 2.48 13.81  7.01 3.37 19.68  7.26 10.09 18.08  3.52  8.80
 0.30 0.54  5.06  2.24 0.08  2.38  2.94  3.82  4.91  3.19  2.48
 1.63 4.62 11.73 14.82 2.96 12.64 13.86 13.73 14.59  7.48  9.81
 9.71 2.81 27.83  6.94 1.48 23.00 13.89 31.85 10.55  6.39 13.44
 5.43 7.11 16.29 14.84 4.76 10.57 16.92 10.17 11.34 11.38 10.88
"""
FROZEN, TINYBERT = 4, 2


def _numbers(text: str) -> np.ndarray:
    return np.array([[float(cell) for cell in line.split()] for line in text.strip().splitlines()])


def test_the_published_matrix_gives_its_dissociation_scores() -> None:
    found = Dissociation.of(TABLE_3, BASE)
    np.testing.assert_allclose(found.by_task, [7.24, 5.26, 9.83, 11.08, 3.28], atol=0.005)
    assert verdict(found.by_task.tolist()) == "double dissociation"
    assert float(found.average) == pytest.approx(7.34, abs=0.005)
    # As printed under Table 3: 7.28 for MNLI, and QNLI and AG the wrong way round (11.07 and 9.84).
    printed = np.array([7.28, 5.26, 11.07, 9.84, 3.28])
    wrong = np.abs(printed - found.by_task) > 0.03
    assert wrong.tolist() == [True, False, True, True, False]
    np.testing.assert_allclose(printed[[0, 1, 3, 2, 4]], TABLE_10.sum(0) / 4, atol=0.006)  # Table 10 puts them right


def test_table_10_follows_from_table_3_but_for_the_base_score_of_mnli() -> None:
    pairs = Dissociation.of(TABLE_3, BASE).pairs.T  # as printed: columns are task A
    rounding = 0.012  # the paper averages ratios of three seeds, here are ratios of averages
    np.testing.assert_allclose(pairs[:, 1:], TABLE_10[:, 1:], atol=rounding)
    assert np.abs(pairs - TABLE_10)[3:, 0].min() > 4 * rounding
    corrected = np.array([83.5, *BASE[1:]])  # the column of MNLI, and its printed 7.28, go with a base of 83.5
    again = Dissociation.of(TABLE_3, corrected)
    np.testing.assert_allclose(again.pairs.T, TABLE_10, atol=rounding)
    assert float(again.by_task[0]) == pytest.approx(7.28, abs=0.01)


def test_averages_of_figure_2_follow_from_table_9_but_for_two() -> None:
    pairs, printed = _numbers(TABLE_9).reshape(8, 10, 2), _numbers(FIGURE_2)
    average = pairs.mean(2)
    wrong = {(int(row), int(pair)) for row, pair in np.argwhere(np.abs(average - printed[:, :10]) > 0.0051)}
    # 11.02 stands for 11.07, and 0.30 lost its minus; the averages of both rows are those of the right numbers.
    assert wrong == {(TINYBERT, 0), (FROZEN, 0)}
    assert average[TINYBERT, 0] == pytest.approx(11.07) and average[FROZEN, 0] == pytest.approx(-0.305)
    np.testing.assert_allclose(average.mean(1), printed[:, 10], atol=0.006)


def test_verdicts_of_all_published_pairs() -> None:
    pairs = _numbers(TABLE_9).reshape(8, 10, 2)
    found = [[verdict(pair.tolist()) for pair in model] for model in pairs]
    tuned = [line for number, line in enumerate(found) if number != FROZEN]
    assert all("double" in name for line in tuned for name in line)  # "all positive", as the paper says
    assert found[3].count("distinct double dissociation") == 4  # BERT base, "in four dual-task learning tasks"
    assert found[FROZEN].count("double dissociation") == 7 and found[FROZEN].count("none") == 3


@pytest.mark.parametrize(
    ("base", "masked", "expected"),
    [  # Table 4: base of A and B; their scores without A's heads; without B's heads; D_A, D_B, D
        ((94.13, 91.13), ((85.94, 65.04), (92.44, 52.95)), (6.905, 13.270, 10.088)),
        ((94.46, 90.72), ((56.17, 64.85), (64.52, 53.66)), (8.842, 12.337, 10.590)),
        ((94.29, 92.47), ((89.51, 89.76), (92.32, 86.01)), (2.982, 4.051, 3.517)),
        ((94.68, 92.66), ((67.65, 89.33), (71.80, 85.78)), (4.387, 3.837, 4.112)),
    ],
)
def test_table_4(
    base: Sequence[float], masked: Sequence[Sequence[float]], expected: tuple[float, float, float]
) -> None:
    found = Dissociation.of(np.array(masked), np.array(base))
    np.testing.assert_allclose([*found.by_task, found.average], expected, atol=0.007)


@pytest.mark.parametrize(
    ("by_task", "expected"),
    [
        ([12, 9], "distinct double dissociation"),
        ([19.999, 0.001], "distinct double dissociation"),  # the mean is exactly ten
        ([19.9, 0.05], "double dissociation"),
        ([0.1, 0.1, 0.1], "double dissociation"),
        ([10.1, -0.1], "single dissociation"),
        ([-3, 11], "single dissociation"),
        ([40, 40, -1], "single dissociation"),
        ([10, -0.1], "none"),  # ten is not more than ten
        ([30, 0], "none"),  # zero is not below zero
        ([0, 0], "none"),
        ([5, -5], "none"),
        ([-1, -0.01], "negative"),
        ([-20, -20, -20], "negative"),
        ([-20, -20, 0], "none"),
    ],
)
def test_every_verdict(by_task: list[float], expected: str) -> None:
    assert verdict(by_task) == expected
    assert verdict(by_task[::-1]) == expected


@pytest.mark.parametrize("by_task", [[], [12.0], [12.0, math.nan]])
def test_no_verdict_of_one_task_or_of_no_number(by_task: list[float]) -> None:
    with pytest.raises(ValueError, match="two tasks at least"):
        verdict(by_task)


def _known(low: float, high: float) -> Difference:
    return Difference((low + high) / 2, "runs", (3, 3), interval=(low, high))


@pytest.mark.parametrize(
    ("by_task", "average", "expected"),
    [
        ([(1, 30), (2, 30)], (10, 22), Judged("distinct double dissociation", True)),
        ([(1, 30), (2, 30)], (9.9, 22), Judged("distinct double dissociation", False)),
        ([(-1, 32), (2, 30)], (10, 22), Judged("distinct double dissociation", False)),
        ([(1, 3), (0.5, 4)], (1, 3), Judged("double dissociation", True)),
        ([(0, 3), (0.5, 4)], (1, 3), Judged("double dissociation", False)),
        ([(11, 13), (-3, -1)], (3, 9), Judged("single dissociation", True)),
        ([(9, 13), (-3, -1)], (3, 9), Judged("single dissociation", False)),
        ([(11, 13), (-3, 1)], (3, 9), Judged("single dissociation", False)),
        ([(-3, -1), (-5, -2)], (-4, -2), Judged("negative", True)),
        ([(-3, 0), (-5, -2)], (-4, -2), Judged("negative", False)),
        ([(-3, 3), (-5, 2)], (-4, 2), Judged("none", True)),
        ([(-13, 13), (-5, 2)], (-4, 2), Judged("none", False)),
    ],
)
def test_a_verdict_is_shown_if_no_place_in_the_intervals_gives_another(
    by_task: list[tuple[float, float]], average: tuple[float, float], expected: Judged
) -> None:
    assert judge([_known(*bounds) for bounds in by_task], _known(*average)) == expected


def test_one_seed_shows_nothing() -> None:
    alone = compare_scores([30.0], [0.0])
    assert judge([alone, alone], alone) == Judged("distinct double dissociation", False)


def test_a_task_without_a_score_has_no_relative_performance() -> None:
    left = relative_performance(np.array([[50.0, 1.0], [80.0, 0.0]]), np.array([100.0, 0.0]))
    assert left[:, 0].tolist() == [50.0, 80.0] and np.isnan(left[:, 1]).all()


@given(st.integers(2, 5), st.data())
def test_dissociation_is_what_its_formula_says(tasks: int, data: st.DataObject) -> None:
    scores = st.floats(1, 100)
    base = data.draw(st.lists(scores, min_size=tasks, max_size=tasks))
    masked = data.draw(st.lists(st.lists(scores, min_size=tasks, max_size=tasks), min_size=tasks, max_size=tasks))
    found = Dissociation.of(np.array(masked)[None], np.array(base)[None])
    for task in range(tasks):
        others = [100 * masked[other][task] / base[task] for other in range(tasks) if other != task]
        own = 100 * masked[task][task] / base[task]
        assert found.by_task[0, task] == pytest.approx(sum(others) / len(others) - own, abs=1e-9)
    assert found.average[0] == pytest.approx(found.by_task[0].mean(), abs=1e-9)
