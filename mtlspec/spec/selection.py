"""The artifact of a `select` stage: the tasks that a model learns, and nothing else.

So a training is stale if, and only if, its tasks are others. The numbers behind a choice are in the stage's record
and in the report.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from mtlspec.io.write import write_json

_FILE = "selection.json"


def write_selection(tasks: Sequence[str], directory: Path) -> None:
    write_json(directory / _FILE, {"tasks": list(tasks)})


def read_selection(directory: Path) -> tuple[str, ...]:
    """The tasks, those that were known beforehand first."""
    return tuple(json.loads((directory / _FILE).read_bytes())["tasks"])
