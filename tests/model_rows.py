"""Rows of models, as the plan makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mtlspec.plan.rows import ModelRow


def model_row(
    group: str, tasks: Sequence[str], seed: int = 1, sweep: Sequence[Sequence[Any]] = (), name: str = ""
) -> ModelRow:
    """A row of an analysis that measures; `name` replaces the model's name without its seed."""
    slug = name or "-".join([group, *tasks, *(str(value) for _, value in sweep)])
    stages = {role: f"{role}-{slug}-s{seed}" for role in ("train", "evaluate", "measure")}
    return ModelRow(group, tuple(tasks), seed, tuple((str(key), value) for key, value in sweep), **stages)
