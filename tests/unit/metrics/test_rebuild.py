"""Every metric describes itself as JSON and comes back the same."""

from __future__ import annotations

import json

import pytest

from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.attachment import Attachment
from mtlspec.metrics.brackets import BracketF1
from mtlspec.metrics.classes import ClassScores, ExampleAccuracy
from mtlspec.metrics.correlation import Correlation
from mtlspec.metrics.entities import EntityF1
from mtlspec.metrics.metric import Metric
from mtlspec.metrics.rebuild import METRICS, rebuild_metric
from mtlspec.metrics.roles import RoleF1
from mtlspec.metrics.spans import SpanF1

EXAMPLES: list[Metric] = [
    Attachment("ptb", subtypes=False),
    BracketF1(),
    ClassScores(["no", "yes"], "f1", "yes"),
    Correlation("pearson"),
    EntityF1(),
    ExampleAccuracy(),
    RoleF1(),
    SpanF1("iobes"),
    TagAccuracy(),
]


def test_all_metrics_are_listed() -> None:
    assert [type(metric) for metric in EXAMPLES] == list(METRICS)
    assert len({metric.kind for metric in METRICS}) == len(METRICS)


@pytest.mark.parametrize("metric", EXAMPLES, ids=lambda metric: metric.kind)
def test_a_described_metric_comes_back(metric: Metric) -> None:
    again = rebuild_metric(json.loads(json.dumps(metric.describe())))
    assert type(again) is type(metric)
    assert again.describe() == metric.describe()
    assert (again.main, again.columns) == (metric.main, metric.columns)


def test_an_unknown_metric_is_named() -> None:
    with pytest.raises(ValueError, match="no metric 'bleu'; known: attachment, bracket_f1"):
        rebuild_metric({"type": "bleu"})
