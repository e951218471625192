"""The list of metrics, and metrics from their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.attachment import Attachment
from mtlspec.metrics.brackets import BracketF1
from mtlspec.metrics.classes import ClassScores, ExampleAccuracy
from mtlspec.metrics.correlation import Correlation
from mtlspec.metrics.entities import EntityF1
from mtlspec.metrics.metric import Metric
from mtlspec.metrics.roles import RoleF1
from mtlspec.metrics.spans import SpanF1

METRICS: tuple[type[Metric], ...] = (
    Attachment,
    BracketF1,
    ClassScores,
    Correlation,
    EntityF1,
    ExampleAccuracy,
    RoleF1,
    SpanF1,
    TagAccuracy,
)


def rebuild_metric(about: Mapping[str, Any]) -> Metric:
    """The inverse of `Metric.describe`."""
    known = {metric.kind: metric for metric in METRICS}
    settings = {name: value for name, value in about.items() if name != "type"}
    if about["type"] not in known:
        raise ValueError(f"there is no metric '{about['type']}'; known: {', '.join(sorted(known))}")
    return known[about["type"]](**settings)
