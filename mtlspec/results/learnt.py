"""What models came to learn, whose tasks are chosen while a study runs: read from what they left."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from mtlspec.plan.rows import ModelRow


def with_choices(models: Iterable[ModelRow], inputs: Mapping[str, Path]) -> tuple[ModelRow, ...]:
    """The rows, those of chosen tasks with the choice, as far as the inputs (stage -> artifact) tell it."""
    return tuple(row if row.select is None else with_choice(row, _learnt(row, inputs)) for row in models)


def with_choice(row: ModelRow, learnt: Iterable[str] | None) -> ModelRow:
    """The row of a model that learnt some tasks. Further ones stand in alphabetical order, whoever has told them."""
    return row if learnt is None else replace(row, chosen=tuple(sorted(set(learnt) - set(row.tasks))))


def _learnt(row: ModelRow, inputs: Mapping[str, Path]) -> list[str] | None:
    if row.train in inputs:
        about = json.loads((inputs[row.train] / "model.json").read_bytes())
        return [task["name"] for task in about["tasks"]]
    if row.evaluate in inputs:
        return list(json.loads((inputs[row.evaluate] / "scores.json").read_bytes()))
    return None
