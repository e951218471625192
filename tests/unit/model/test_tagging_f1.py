"""Tagging that is scored without O: tags that spell no span count as spans of one word."""

from __future__ import annotations

import pytest

from mtlspec.metrics.spans import SpanF1
from mtlspec.model.tasks.tagging_f1 import Options


def test_o_earns_nothing_and_plain_tags_are_spans_of_one_word() -> None:
    task = Options(type="tagging_f1", layer="semtr").build("semtr", {"O": 9, "Human": 2, "Place": 1}, width=4)
    assert task.metric.main == "f1"
    gold = [["O", "Human", "O", "Human", "Place"]]
    scores = task.metric.score_rows(task.metric.counts(gold, [["O", "O", "O", "Human", "Human"]]))
    assert scores["precision"] == pytest.approx(50.0) and scores["recall"] == pytest.approx(100 / 3)
    nothing = task.metric.score_rows(task.metric.counts(gold, [["O"] * 5]))
    assert nothing["f1"] == 0.0  # 40 % accuracy


def test_tags_that_spell_spans_are_scored_as_spans() -> None:
    task = Options(type="tagging_f1", layer="ner").build("ner", {"O": 9, "B-PER": 2, "I-PER": 1}, width=4)
    assert isinstance(task.metric, SpanF1) and task.metric.scheme == "bio"
    counts = task.metric.counts([["B-PER", "I-PER"]], [["B-PER", "O"]])
    assert task.metric.score_rows(counts)["f1"] == 0.0
