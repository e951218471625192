"""The list of metrics, and metrics from their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mtlspec import kinds
from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.attachment import Attachment
from mtlspec.metrics.brackets import BracketF1
from mtlspec.metrics.classes import ClassScores, ExampleAccuracy
from mtlspec.metrics.correlation import Correlation
from mtlspec.metrics.entities import EntityF1
from mtlspec.metrics.metric import Metric
from mtlspec.metrics.roles import RoleF1
from mtlspec.metrics.spans import SpanF1
from mtlspec.spec import families

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
    own, name = kinds.names(families.METRICS), about["type"]
    settings = {key: value for key, value in about.items() if key != "type"}
    if name not in known and name not in own:
        raise ValueError(f"there is no metric '{name}'; known: {', '.join(sorted([*known, *own]))}")
    metric: type[Metric] = known[name] if name in known else kinds.load(families.METRICS, name).METRIC
    return metric(**settings)
