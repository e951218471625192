"""Semantic role F1."""

from __future__ import annotations

import pytest

from mtlspec.data.sentence import Frame
from mtlspec.metrics.roles import RoleF1

GOLD = (
    Frame(1, "see.01", ((0, 1, "ARG0"), (1, 2, "V"), (2, 4, "ARG1"))),
    Frame(5, "be.03", ((5, 6, "V"), (7, 8, "C-V"))),
)


def test_roles_need_predicate_span_and_label_and_the_verb_does_not_count() -> None:
    predicted = (
        Frame(1, "", ((0, 1, "ARG0"), (2, 4, "ARG2"))),
        Frame(2, "", ((0, 1, "ARG0"), (2, 3, "V"))),
        Frame(3, "", ((3, 4, "V"),)),
    )
    counts = RoleF1().counts([GOLD, ()], [predicted, ()])
    assert counts.tolist() == [[1, 3, 2, 1, 2, 1], [0] * 6]
    scores = RoleF1().scores(counts.sum(0))
    assert float(scores["f1"]) == pytest.approx(40.0)
    assert float(scores["predicate_recall"]) == pytest.approx(100.0)
    assert float(scores["predicate_precision"]) == pytest.approx(50.0)
    labels = RoleF1().label_scores([GOLD, ()], [predicted, ()])
    assert sorted(labels) == ["ARG0", "ARG1", "ARG2"]
    assert labels["ARG0"] == {"precision": 50.0, "recall": 100.0, "f1": pytest.approx(200 / 3), "support": 1}


def test_gold_against_itself_is_perfect() -> None:
    scores = RoleF1().scores(RoleF1().counts([GOLD], [GOLD]).sum(0))
    assert all(float(score) == 100.0 for score in scores.values())


def test_the_order_of_frames_and_roles_does_not_matter() -> None:
    turned = tuple(Frame(f.predicate, "", tuple(reversed(f.roles))) for f in reversed(GOLD))
    assert RoleF1().counts([GOLD], [turned]).tolist() == RoleF1().counts([GOLD], [GOLD]).tolist()


def test_scores_of_many_totals_come_at_once() -> None:
    totals = RoleF1().counts([GOLD, ()], [GOLD, ()])
    assert RoleF1().scores(totals)["f1"].tolist() == [100.0, 0.0]
