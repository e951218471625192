"""Scores of classes against scikit-learn, on thousands of random cases."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as reference

from mtlspec.metrics.classes import ClassScore, ClassScores, ExampleAccuracy
from mtlspec.metrics.rebuild import rebuild_metric

EXACT = 1e-12
LABELS = ("a", "b", "c", "d", "e")
NEW = ("new", "newer", "newest")  # gold only


def _expected(gold: Sequence[str], predicted: Sequence[str], positive: str) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one class only, no positive example: what is meant is part of the test
        one = [[label == positive for label in side] for side in (gold, predicted)]
        f1 = {name: reference.f1_score(gold, predicted, average=name, zero_division=0) for name in ("macro", "micro")}
        expected = {
            "accuracy": reference.accuracy_score(gold, predicted),
            "f1": reference.f1_score(*one, zero_division=0),
            "precision": reference.precision_score(*one, zero_division=0),
            "recall": reference.recall_score(*one, zero_division=0),
            "f1_macro": f1["macro"],
            "f1_micro": f1["micro"],
            "matthews": reference.matthews_corrcoef(gold, predicted),
        }
    return {**expected, "f1_accuracy": (expected["f1"] + expected["accuracy"]) / 2}


def _check(gold: Sequence[str], predicted: Sequence[str], labels: Sequence[str], positive: str) -> None:
    metric = ClassScores(labels, "f1", positive)
    rows = metric.counts(gold, predicted)
    found = metric.score_rows(rows)
    expected = _expected(gold, predicted, positive)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert float(found[name]) / 100 == pytest.approx(value, abs=EXACT), name
    alone = ExampleAccuracy()
    assert alone.score_rows(alone.counts(gold, predicted))["accuracy"] == found["accuracy"]


@pytest.mark.parametrize("cases", [400, pytest.param(4000, marks=pytest.mark.slow)])
def test_scores_are_those_of_scikit_learn_on_many_cases(cases: int) -> None:
    rng = np.random.default_rng(9)
    for case in range(cases):
        classes = int(rng.integers(1, 6))
        size = int(rng.integers(1, 60))
        skew = rng.dirichlet(np.full(classes, 0.5))
        gold = rng.choice(LABELS[:classes], size, p=skew).astype(object)
        agree = rng.random(size) < rng.random()
        predicted = np.where(agree, gold, rng.choice(LABELS[:classes], size))
        if case % 10 == 0:
            predicted[:] = LABELS[int(rng.integers(classes))]  # a model that says one thing only
        if case % 3 == 0:
            gold[rng.random(size) < 0.3] = "new"
            gold[rng.random(size) < 0.2] = "old"
        _check(gold.tolist(), predicted.tolist(), LABELS[:classes], LABELS[int(rng.integers(classes))])


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30))
def test_scores_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    _check(gold, predicted, LABELS, "b")


@given(st.lists(st.tuples(st.sampled_from([*LABELS, *NEW]), st.sampled_from(LABELS)), min_size=1, max_size=30))
def test_classes_that_training_never_saw_count(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = zip(*pairs, strict=True)
    _check(gold, predicted, LABELS, "b")


@pytest.mark.parametrize("main", ["f1_macro", "matthews"])
def test_rows_of_new_classes_can_be_pooled_merged_exchanged_and_left_out(main: ClassScore) -> None:
    rng, size = np.random.default_rng(5), 12
    for _ in range(10):
        gold, first, second = (rng.choice(classes, size) for classes in ([*LABELS[:3], *NEW], LABELS[:3], LABELS[:3]))
        metric = ClassScores(LABELS[:3], main).knowing(gold.tolist())
        a = np.concatenate([metric.counts(gold[:5], first[:5]), metric.counts(gold[5:], first[5:])])
        b = metric.counts(gold, second)
        assert float(metric.score_rows(a)[main]) == pytest.approx(_reference(main, gold, first), abs=100 * EXACT)
        pooled = _reference(main, np.tile(gold, 2), np.concatenate([first, second]))
        assert float(metric.score_rows(metric.pool([a, b]))[main]) == pytest.approx(pooled, abs=100 * EXACT)
        swap = rng.random(size) < 0.5
        ours, theirs = np.where(swap, second, first), np.where(swap, first, second)
        difference = _reference(main, gold, ours) - _reference(main, gold, theirs)
        found = metric.exchange(a, b, np.arange(size))(swap[None].astype(np.uint8))
        assert float(found[0]) == pytest.approx(difference, abs=100 * EXACT)
        left = _reference(main, gold[1:], first[1:])
        assert float(metric.without_each(a)[0]) == pytest.approx(left, abs=100 * EXACT)


def _reference(main: ClassScore, gold: np.ndarray, predicted: np.ndarray) -> float:
    if main == "matthews":
        return float(100 * reference.matthews_corrcoef(gold, predicted))
    return float(100 * reference.f1_score(gold, predicted, average="macro", zero_division=0))


def test_a_metric_keeps_its_layout_unless_several_classes_are_new() -> None:
    metric = ClassScores(["a", "b"], "matthews")
    assert metric.knowing(["a", "b", "c"]) is metric
    told = metric.knowing(["d", "b", "c"])
    assert told.columns[-3:] == ("gold c", "gold d", "gold of other classes")
    assert rebuild_metric(told.describe()).columns == told.columns
    gold, predicted = "aabbabcdcd", "aabbabaaab"
    found = metric.score_rows(metric.counts(gold, predicted))  # scikit-learn's, to two digits
    assert [round(float(found[name]), 2) for name in ("f1_macro", "matthews")] == [38.10, 50.34]


def test_sums_of_parts_are_the_whole() -> None:
    rng = np.random.default_rng(2)
    gold, predicted = (rng.choice(LABELS, 50).tolist() for _ in "ab")
    metric = ClassScores(LABELS, "matthews")
    whole = metric.score_rows(metric.counts(gold, predicted))
    parts = [metric.counts(gold[:20], predicted[:20]), metric.counts(gold[20:], predicted[20:])]
    assert metric.score_rows(np.concatenate(parts)) == whole
    assert metric.scores(parts[0].sum(0) + parts[1].sum(0)) == whole
    assert metric.pool(parts[:1]).tolist() == parts[0].tolist()


def test_golden_values() -> None:
    """Four examples by hand: one true and one false positive, one miss, one true negative; then MCC = 0."""
    gold, predicted = ["1", "1", "0", "0"], ["1", "0", "1", "0"]
    metric = ClassScores(["0", "1"], "f1_accuracy", "1")
    rows = metric.counts(gold, predicted)
    assert metric.columns[-1] == "gold of other classes"
    assert rows[0].tolist() == [0, 1, 0, 1, 0, 1, 0]
    found = {name: float(value) for name, value in metric.score_rows(rows).items()}
    halves = ("f1", "precision", "recall", "accuracy", "f1_macro", "f1_micro", "f1_accuracy")
    assert found == {**dict.fromkeys(halves, 50.0), "matthews": 0.0}
    assert metric.label_scores(gold, predicted)["1"] == {"precision": 50.0, "recall": 50.0, "f1": 50.0, "support": 2}


def test_scores_broadcast_and_nothing_scores_zero() -> None:
    metric = ClassScores(["a", "b"], "matthews")
    rows = metric.counts(["a", "b"], ["a", "b"])
    assert metric.score_rows(np.stack([rows, rows, rows]))["matthews"].tolist() == [100.0] * 3
    assert set(map(float, metric.score_rows(rows[:0]).values())) == {0.0}
    assert "f1" not in metric.score_rows(rows)


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(ValueError, match="2 gold classes, 1 predicted"):
        ExampleAccuracy().counts(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="'f1' needs a positive class"):
        ClassScores(["a"], "f1")
    with pytest.raises(ValueError, match="positive class 'x' is none of the labels"):
        ClassScores(["a"], "f1", "x")
    with pytest.raises(ValueError, match="no score 'kappa'"):
        ClassScores(["a"], "kappa")  # type: ignore[arg-type]
