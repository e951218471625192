"""Accuracy and span F1 as additive counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.entities import EntityF1, GoldSpans
from mtlspec.metrics.schemes import spans_of
from mtlspec.metrics.spans import SpanF1

TAGS = {
    "bio": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "iobes": ["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in "XY")],
}


@st.composite
def corpora(draw, scheme):
    sizes = draw(st.lists(st.integers(0, 7), min_size=1, max_size=5))
    tag = st.sampled_from(TAGS[scheme])
    return [[draw(st.lists(tag, min_size=n, max_size=n)) for n in sizes] for _ in range(2)]


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
@given(data=st.data())
def test_span_scores_are_those_of_seqeval(scheme, data):
    gold, predicted = data.draw(corpora(scheme))
    metric = SpanF1(scheme)
    counts = metric.counts(gold, predicted)
    scores = metric.scores(counts.sum(0))
    reference = precision_recall_fscore_support(gold, predicted, average="micro", zero_division=0)
    assert [float(scores[k]) for k in ("precision", "recall", "f1")] == pytest.approx([100 * x for x in reference[:3]])
    for i in range(len(gold)):
        assert metric.counts([gold[i]], [predicted[i]])[0].tolist() == counts[i].tolist()


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
@given(data=st.data())
def test_span_scores_per_type_are_those_of_seqeval(scheme, data):
    gold, predicted = data.draw(corpora(scheme))
    found = SpanF1(scheme).label_scores(gold, predicted)
    reference = precision_recall_fscore_support(gold, predicted, average=None, zero_division=0)
    assert [row["support"] for row in found.values()] == reference[3].tolist()
    assert [row["f1"] for row in found.values()] == pytest.approx((100 * reference[2]).tolist())


def test_a_golden_value():
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG"]]
    predicted = [["B-PER", "I-PER", "O", "B-ORG"], ["B-LOC", "B-ORG"]]
    metric = SpanF1("bio")
    counts = metric.counts(gold, predicted)
    assert counts.tolist() == [[1, 2, 2], [1, 2, 1]]
    scores = metric.scores(counts.sum(0))
    assert float(scores["precision"]) == pytest.approx(50.0)
    assert float(scores["recall"]) == pytest.approx(200 / 3)
    assert float(scores["f1"]) == pytest.approx(400 / 7)
    assert metric.label_scores(gold, predicted)["PER"] == {
        "precision": 100.0,
        "recall": 100.0,
        "f1": 100.0,
        "support": 1,
    }


def test_a_span_does_not_cross_sentences():
    assert SpanF1("bio").counts([["B-X"], ["I-X"]], [["B-X"], ["O"]]).tolist() == [[1, 1, 1], [0, 0, 1]]


def test_plain_tags_count_as_spans_of_one_word():
    assert SpanF1("plain").counts([["A", "O", "B"]], [["A", "B", "O"]]).tolist() == [[1, 2, 2]]


def test_no_spans_at_all_scores_zero_without_a_warning():
    metric = SpanF1("bio")
    assert float(metric.scores(metric.counts([["O"]], [["O"]]).sum(0))["f1"]) == 0.0
    assert metric.label_scores([["O"]], [["O"]]) == {}


def test_accuracy_counts_words():
    metric = TagAccuracy()
    counts = metric.counts([["A", "B"], ["C"], []], [["A", "A"], ["C"], []])
    assert counts.tolist() == [[1, 2], [1, 1], [0, 0]]
    assert float(metric.scores(counts.sum(0))["accuracy"]) == pytest.approx(200 / 3)
    assert metric.label_scores([["A", "B"]], [["A", "A"]])["A"]["precision"] == 50.0


@pytest.mark.parametrize("metric", [TagAccuracy(), SpanF1("bio")])
def test_counts_have_the_documented_columns_and_scores_broadcast(metric):
    counts = metric.counts([["O"], ["O"]], [["O"], ["O"]])
    assert counts.shape == (2, len(metric.columns))
    assert counts.dtype == np.int64
    totals = np.stack([counts, counts])  # [2, 2, K]
    assert metric.scores(totals)[metric.main].shape == (2, 2)


@pytest.mark.parametrize("metric", [TagAccuracy(), SpanF1("bio")])
def test_sides_that_do_not_match_are_refused(metric):
    with pytest.raises(ValueError, match="2 gold sentences, 1 predicted"):
        metric.counts([["O"], ["O"]], [["O"]])
    with pytest.raises(ValueError, match="sentence 1: 1 gold tags, 2 predicted"):
        metric.counts([["O"], ["O"]], [["O"], ["O", "O"]])


def test_words_without_a_gold_tag_do_not_count():
    metric = TagAccuracy()
    gold, predicted = [["A", None, "B"], [None], ["A"]], [["A", "A", "A"], ["B"], ["A"]]
    assert metric.counts(gold, predicted).tolist() == [[1, 2], [0, 0], [1, 1]]
    assert metric.label_scores(gold, predicted)["A"] == {
        "precision": pytest.approx(200 / 3),
        "recall": 100.0,
        "f1": 80.0,
        "support": 2,
    }


@pytest.mark.parametrize(
    ("scheme", "gold", "predicted", "counts"),
    [
        ("bio", "B-X I-X O ? B-X", "B-X I-X O B-X B-X", [2, 2, 2]),  # the span beside the gap says that it begins
        ("bio", "O B-X ?", "O B-X O", [0, 0, 0]),  # it may go on: nobody knows
        ("bio", "O B-X ?", "O B-X I-X", [0, 0, 0]),
        ("bio", "? I-X O B-Y", "B-X I-X O B-Y", [1, 1, 1]),  # it began somewhere in the gap
        ("bio", "O ? O", "B-X I-X O", [0, 0, 0]),  # a predicted span over a gap
        ("bio", "O ? O", "B-X O B-X", [0, 2, 0]),  # predicted spans where the gold tags say O
        ("iobes", "B-X E-X ? S-X", "B-X E-X S-X S-X", [2, 2, 2]),  # both ends are spelt out
        ("iobes", "B-X ? E-X", "B-X I-X E-X", [0, 0, 0]),
        ("plain", "A ? B", "A B O", [1, 1, 2]),
    ],
)
def test_spans_that_touch_a_gap_do_not_count(scheme, gold, predicted, counts):
    tags = [None if tag == "?" else tag for tag in gold.split()]
    sides = [["O"], tags, ["O"]], [["O"], predicted.split(), ["O"]]
    assert SpanF1(scheme).counts(*sides).tolist() == [[0, 0, 0], counts, [0, 0, 0]]
    right, given = GoldSpans(tags, scheme), spans_of(predicted.split(), scheme)
    assert EntityF1().counts([right], [given]).tolist() == [counts]
    assert EntityF1().counts([right], [right])[0].tolist() == [counts[2]] * 3
