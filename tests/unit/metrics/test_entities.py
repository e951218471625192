"""Entity F1 over explicit spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.metrics.entities import EntityF1
from mtlspec.metrics.schemes import spans_of
from mtlspec.metrics.spans import SpanF1

TAGS = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), max_size=6)


def test_start_end_and_type_must_be_right() -> None:
    gold = [[(0, 2, "PER"), (3, 4, "ORG")], [(0, 1, "PER")], []]
    predicted = [[(0, 2, "PER"), (3, 4, "LOC")], [(0, 2, "PER")], [(1, 2, "LOC")]]
    metric = EntityF1()
    counts = metric.counts(gold, predicted)
    assert counts.tolist() == [[1, 2, 2], [0, 1, 1], [0, 1, 0]]
    scores = metric.scores(counts.sum(0))
    assert float(scores["precision"]) == pytest.approx(25.0)
    assert float(scores["recall"]) == pytest.approx(100 / 3)
    assert float(scores["f1"]) == pytest.approx(200 / 7)
    assert metric.label_scores(gold, predicted)["PER"] == {"precision": 50.0, "recall": 50.0, "f1": 50.0, "support": 2}


def test_nested_spans_count_one_by_one() -> None:
    gold = [[(0, 5, "ORG"), (3, 5, "LOC"), (3, 5, "GPE")]]
    assert EntityF1().counts(gold, gold).tolist() == [[3, 3, 3]]
    assert EntityF1().counts(gold, [[(3, 5, "LOC"), (3, 5, "LOC")]]).tolist() == [[1, 1, 3]]


@given(st.lists(st.tuples(TAGS, st.randoms()), max_size=4))
def test_flat_spans_score_as_their_tags_do(drawn) -> None:
    gold = [tags for tags, _ in drawn]
    predicted = [[rng.choice(["O", "B-X", "I-X", tag]) for tag in tags] for tags, rng in drawn]
    sides = [[spans_of(tags, "bio") for tags in side] for side in (gold, predicted)]
    assert EntityF1().counts(*sides).tolist() == SpanF1("bio").counts(gold, predicted).tolist()
    assert EntityF1().label_scores(*sides) == SpanF1("bio").label_scores(gold, predicted)


def test_different_numbers_of_sentences_are_refused() -> None:
    with pytest.raises(ValueError, match="1 gold sentences, 2 predicted ones"):
        EntityF1().counts([[]], [[], []])
