"""How long a run still takes, as its display says while stages run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mtlspec.cli.progress import RunDisplay
from mtlspec.execute.scheduler import Outcome


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """`seconds` is the time."""
    now = SimpleNamespace(seconds=1000.0)
    monkeypatch.setattr("mtlspec.cli.progress.time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def test_the_time_that_is_left_goes_down_while_a_stage_runs(clock: SimpleNamespace) -> None:
    display = RunDisplay(["a", "b"], {"a": 600.0, "b": 300.0}, workers=1)
    assert display.left() == "15 min left"
    display.started("a")
    clock.seconds += 120
    assert display.left() == "13 min left"  # by the time alone
    display.progressed("a", 50, 100, "updates")
    assert display.left() == "10 min left"  # the stage knows better
    clock.seconds += 60
    display.progressed("a", 75, 100, "updates")
    assert display.left() == "8 min left"
    display.progressed("a", 0, 20, "sentences")  # another count begins: no time comes back
    assert display.left() == "8 min left"
    display.finished("a", "ran")
    assert display.left() == "5 min left"
    display.started("b")
    clock.seconds += 1000  # longer than thought
    assert display.left() == "<1 min left"
    display.finished("b", "ran")
    assert display.left() == ""


def test_one_long_stage_takes_its_time_however_many_workers_there_are(clock: SimpleNamespace) -> None:
    display = RunDisplay(["a", "b"], {"a": 600.0, "b": 60.0}, workers=2)
    assert display.left() == "10 min left"


def test_nothing_is_said_while_a_stage_is_unknown(clock: SimpleNamespace) -> None:
    display = RunDisplay(["a", "b"], {"a": 600.0, "b": None}, workers=1)
    assert display.left() == ""
    display.finished("b", "restored")
    assert display.left() == "10 min left"


def test_stages_that_are_brought_back_take_time_too(clock: SimpleNamespace) -> None:
    display = RunDisplay(["a", "b", "c", "d", "e"], {"e": 120.0}, workers=2)
    assert display.left() == "2 min left"
    outcomes: dict[str, Outcome] = {"a": "restored", "b": "cached"}
    for stage, outcome in outcomes.items():
        with display.busy(stage, "restoring"):
            clock.seconds += 90
        display.finished(stage, outcome)
    assert display.left() == "5 min left"  # two more like these
    for stage in ("c", "d"):
        display.finished(stage, "restored")
    display.started("e")
    clock.seconds += 30
    with display.busy("e", "storing"):
        clock.seconds += 30
    assert display.left() == "1 min left"
    display.finished("e", "ran")
    assert display.left() == ""
