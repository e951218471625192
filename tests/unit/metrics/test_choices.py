"""Scores of choices: by hand for COPA, MultiRC and ReCoRD, and against their definitions question by question."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.data.choices import Choice
from mtlspec.metrics.answers import token_f1
from mtlspec.metrics.own.choices import ChoiceScore, ChoiceScores
from mtlspec.metrics.rebuild import rebuild_metric

GOLD = [
    Choice("a", "no", 0.0),
    Choice("a", "yes", 1.0),
    Choice("a", "yes indeed", 1.0),
    Choice("b", "never", 0.0),
    Choice("b", "always", 1.0),
    Choice("c", "the old king", 0.0),
    Choice("c", "king", 1.0),
]


def scores(main: ChoiceScore, given: list[float]) -> dict[str, float]:
    metric = ChoiceScores(main)
    rows = metric.counts(GOLD, [Choice("", "", score) for score in given])
    return {name: float(value) for name, value in metric.score_rows(rows).items()}


def test_by_hand() -> None:
    given = [0.1, 0.9, 0.4, 0.2, 0.6, 0.8, 0.3]  # a: one of two right ones; b: all right; c: the wrong one
    assert scores("accuracy", given) == {"accuracy": pytest.approx(200 / 3)}
    # Called right: yes, always, the old king; right: yes, yes indeed, always, king.
    assert scores("f1a_em", given) == pytest.approx({"f1a": 400 / 7, "em": 100 / 3, "f1a_em": (400 / 7 + 100 / 3) / 2})
    # The best of c is "the old king", which shares one of two tokens with "king".
    assert scores("em_f1", given) == pytest.approx({"em": 200 / 3, "f1": 800 / 9, "em_f1": (200 / 3 + 800 / 9) / 2})


def test_of_equal_choices_the_first_is_taken() -> None:
    assert scores("accuracy", [0.5, 0.5, 0.5, 0.1, 0.5, 0.2, 0.3])["accuracy"] == pytest.approx(200 / 3)


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "x y", "z"]), st.booleans(), st.floats(0, 1))))
def test_any_questions_score_as_defined(choices: list[tuple[str, str, bool, float]]) -> None:
    gold = [Choice(question, answer, float(right)) for question, answer, right, _ in choices]
    given = [Choice("", "", score) for *_, score in choices]
    of_question = defaultdict(list)
    for choice in choices:
        of_question[choice[0]].append(choice)
    best = [max(own, key=lambda one: one[3]) for own in of_question.values()]
    rows = ChoiceScores("em_f1").counts(gold, given)
    assert rows[:, 0].sum() == len(of_question)
    found = ChoiceScores("f1a_em").score_rows(rows)
    whole = [all(right == (score > 0.5) for _, _, right, score in own) for own in of_question.values()]
    both = sum(right and score > 0.5 for _, _, right, score in choices)
    called = sum(right for _, _, right, _ in choices) + sum(score > 0.5 for *_, score in choices)
    assert found["em"] == pytest.approx(100 * np.mean(whole) if whole else 0)
    assert found["f1a"] == pytest.approx(200 * both / called if called else 0)
    f1 = [
        max((token_f1(answer, other) for _, other, right, _ in of_question[question] if right), default=0.0)
        for question, answer, _, _ in best
    ]
    assert ChoiceScores("em_f1").score_rows(rows)["f1"] == pytest.approx(100 * np.mean(f1) if f1 else 0)
    assert ChoiceScores().score_rows(rows)["accuracy"] == pytest.approx(
        100 * np.mean([right for _, _, right, _ in best]) if best else 0
    )


def test_it_is_rebuilt_pooled_and_refuses_what_it_does_not_know() -> None:
    metric = ChoiceScores("em_f1")
    again = rebuild_metric(metric.describe())
    rows = metric.counts(GOLD, [Choice("", "", score) for score in (0.1, 0.9, 0.4, 0.2, 0.6, 0.8, 0.3)])
    assert again.score_rows(metric.pool([rows, rows])) == metric.score_rows(rows)
    with pytest.raises(ValueError, match="no score 'f2'"):
        ChoiceScores("f2")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="7 gold choices, 0 predicted"):
        metric.counts(GOLD, [])
