"""What training left behind, step by step: losses per update, scores per epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Epoch:
    """`scores` maps `<task>/<metric>` to the dev score; `mean` decides which epoch is the best.

    There is no mean where some task has no score.
    """

    number: int
    scores: Mapping[str, float]
    mean: float | None
    best: bool


def read_epochs(train_artifact: Path) -> tuple[Epoch, ...]:
    raw: list[dict[str, Any]] = json.loads((train_artifact / "epochs.json").read_bytes())
    return tuple(
        Epoch(
            number=int(entry["epoch"]),
            scores={
                f"{task}/{metric}": float(value)
                for task, scores in entry["scores"].items()
                for metric, value in scores.items()
            },
            mean=None if entry["mean"] is None else float(entry["mean"]),
            best=bool(entry["best"]),
        )
        for entry in raw
    )


@dataclass(frozen=True)
class Look:
    """Dev on the way: task -> metric -> percent; task -> entropy from 0 to 1, where it was asked for."""

    update: int
    scores: Mapping[str, Mapping[str, float]]
    mean: float | None  # over the main scores of all tasks; None where one has no score
    entropy: Mapping[str, float]


def read_curve(train_artifact: Path) -> tuple[Look, ...]:
    """`curve.json`, by updates; nothing where dev was scored after epochs only."""
    path = train_artifact / "curve.json"
    raw = json.loads(path.read_bytes()) if path.exists() else []
    return tuple(Look(one["update"], one["scores"], one["mean"], one.get("entropy", {})) for one in raw)


def read_history(train_artifact: Path) -> tuple[tuple[str, ...], dict[str, Column]]:
    """The task of every update, and every numeric column [updates] of history.parquet; gaps are NaN."""
    import pyarrow.parquet as pq

    table = pq.read_table(train_artifact / "history.parquet")
    tasks = tuple(str(task) for task in table.column("task").to_pylist())
    columns = {
        name: np.asarray([np.nan if value is None else value for value in table.column(name).to_pylist()], np.float64)
        for name in table.column_names
        if name != "task"
    }
    return tasks, columns
