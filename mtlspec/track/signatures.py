"""Signatures of scores, as a record has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mtlspec.results.signatures import mean_signature


class RecordedSignatures:
    """What the report of a run said of its scores; nothing of records that were made before it did."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        facts = record["stages"].get("report", {}).get("facts", {})
        found = facts.get("signatures", {})
        self._main: Mapping[str, str] = facts.get("main", {})
        self._tasks = {model["name"]: model["tasks"] for model in record["models"]}
        self.of_scores: Mapping[str, str] = found.get("scores", {})
        self.of_models: Mapping[str, Mapping[str, str]] = found.get("models", {})

    def of(self, model: str, score: str) -> str:
        """Of `split/task/score` or `split/mean` of a model; empty if nobody recorded it."""
        split, _, name = score.partition("/")
        if name != "mean":
            return self.of_models.get(model, {}).get(score) or self.of_scores.get(score, "")
        parts = {
            f"{task}/{self._main.get(task)}": f"{split}/{task}/{self._main.get(task)}" for task in self._tasks[model]
        }
        known = {part: self.of(model, key) for part, key in parts.items()}
        return mean_signature(known) if all(known.values()) else ""
