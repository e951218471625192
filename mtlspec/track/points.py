"""The series of a model that MLflow draws: scores, losses, learning rates, facts and speed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtlspec.io.project import RunPlaces
from mtlspec.plan.rows import ModelRow
from mtlspec.results.history import read_epochs, read_history
from mtlspec.results.lengths import read_length
from mtlspec.track.times import timings

Point = tuple[str, float, int]
"""(metric, value, step)"""
CURVE = 100  # points of a curve: MLflow draws no more of them well, and takes a row of its database for each


def seed_points(places: RunPlaces, run: ModelRow, train: Mapping[str, Any], evaluate: Mapping[str, Any]) -> list[Point]:
    artifact = places.artifact(run.train)
    points: list[Point] = [(key, float(value), 0) for key, value in evaluate["scores"].items()]
    for epoch in read_epochs(artifact):
        points += [(f"epoch/dev/{key}", value, epoch.number) for key, value in epoch.scores.items()]
        points += [("epoch/dev/mean", epoch.mean, epoch.number)] if epoch.mean is not None else []
    points += history_points(artifact)
    points += [
        (f"fact/{key}", float(value), 0) for key, value in train["facts"].items() if isinstance(value, int | float)
    ]
    length = read_length(artifact)
    points.append(("seen/updates", length.updates, 0))
    for task, seen in length.tasks.items():
        points += [(f"seen/{task}/updates", seen.updates, 0), (f"seen/{task}/examples", seen.examples, 0)]
    points += [(f"speed/{key}", value, 0) for key, value in timings(places.timing(run.train)).items()]
    return [point for point in points if math.isfinite(point[1])]


def history_points(artifact: Path) -> list[Point]:
    """Loss and weight of each task, and what all tasks share; means over as many updates as keep curves short."""
    tasks, columns = read_history(artifact)
    updates = columns["update"]
    last = max(map(int, updates), default=0)
    window = max(1, math.ceil(last / CURVE))
    sums: dict[tuple[str, int], list[float]] = {}
    for name, column in columns.items():
        if name in ("update", "epoch"):
            continue
        own = name in ("loss", "weight")
        title = name if own else f"{name[:2]}/{name[3:]}" if name.startswith("lr_") else f"train/{name}"
        for task, update, value in zip(tasks, updates, column, strict=True):
            if math.isfinite(value):
                end = min(math.ceil(int(update) / window) * window, last)
                sums.setdefault((f"{title}/{task}" if own else title, end), []).append(float(value))
    return [(name, sum(values) / len(values), update) for (name, update), values in sums.items()]
