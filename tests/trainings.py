"""What training tells of its length, made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtlspec.io.write import write_json


def write_training(
    folder: Path,
    tasks: Mapping[str, int] | Sequence[str],
    updates: int = 100,
    planned: int | None = None,
    start: Path | None = None,
) -> Path:
    """`training.json` of a training, which may have a start; `tasks` read 8 examples in each of their updates.

    A mapping says how many updates each task took part in; otherwise all took part in all, as with joint batches.
    """
    folder.mkdir(parents=True, exist_ok=True)
    own = dict(tasks) if isinstance(tasks, Mapping) else dict.fromkeys(tasks, updates)
    told: dict[str, Any] = {task: {"updates": number, "examples": 8 * number} for task, number in own.items()}
    before = json.loads((start / "training.json").read_bytes()) if start is not None else []
    write_json(folder / "training.json", [*before, {"planned": planned or updates, "updates": updates, "tasks": told}])
    return folder
