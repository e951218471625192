"""What a run says when a stage fails, and what it does not start before all files were read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from mtlspec.execute.failure import failure
from mtlspec.execute.scheduler import Scheduler
from mtlspec.plan.types import Stage, StageKind

DEFECTS = """some library's warning
error E740: 2 sentences are malformed in the train files of 'x'; mend them
mine/train.tsv:3: error E701: 1 cell instead of 2; `on_invalid: drop` leaves such rows out
mine/train.tsv:4:7: error E720: not JSON: a colon: is missing
"""


def test_several_errors_of_a_stage_are_all_shown() -> None:
    found = failure("data", {"status": 3, "tail": DEFECTS}, Path("log"))
    lines = [str(problem) for problem in found.problems]
    assert lines == [
        "error E410: stage 'data' failed with exit code 3 and 3 messages; all it printed is in log",
        *DEFECTS.splitlines()[1:],
    ]
    assert found.exit_code == 4


def test_one_error_of_a_stage_is_one_line() -> None:
    tail = "noise\n/x:3: error E701: 1 cells\n"
    said = str(failure("data", {"status": 3, "tail": tail}))
    assert said == "error E410: stage 'data' failed with exit code 3: /x:3: error E701: 1 cells"
    assert str(failure("x", {"status": -9, "tail": ""})) == "error E410: stage 'x' was ended by signal 9"


class _Watcher:
    """Sees which stages end, and how."""

    def __init__(self) -> None:
        self.seen: dict[str, str] = {}

    def finished(self, stage: str, outcome: str) -> None:
        self.seen[stage] = outcome


def stage(name: str, kind: StageKind) -> Stage:
    return Stage(name=name, kind=kind, params={}, inputs={}, unit=kind, id=name)


def test_nothing_starts_while_files_are_read() -> None:
    scheduler = Scheduler(SimpleNamespace(plan=SimpleNamespace(stages=[])), 3, _Watcher())  # type: ignore[arg-type]
    encoder, one, two = stage("encoder", "encoder"), stage("data-a", "data"), stage("data-b", "data")
    scheduler._queue = [encoder, one]
    assert scheduler._next([two]) == [one] and scheduler._queue == [encoder]
    assert scheduler._next([one, two]) == []
    assert scheduler._next([one]) == []
    assert scheduler._next([]) == [encoder] and scheduler._queue == []
