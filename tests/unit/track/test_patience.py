"""Servers that hold us up are given up; those that go on are not."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest

from mtlspec.io.project import Project
from mtlspec.track.mlflow import publish, publish_all
from mtlspec.track.outbox import waiting
from mtlspec.track.patience import OutOfPatienceError, Patience
from mtlspec.track.server import answer_seconds
from mtlspec.track.webserver import serving
from tests.finished_run import FinishedRun
from tests.odd_servers import Answer, drip, odd_server, redirect, refuse, reset, slow_line, stay_silent

LIMIT = 60  # seconds until a test says that it hangs; not a limit on speed
HOLDING: dict[str, Answer] = {
    "a byte at a time": drip,
    "slow redirects without end": redirect("/again", after=0.3),
    "silence": stay_silent,
}
REFUSING: dict[str, Answer] = {
    "quick redirects without end": redirect("/again"),
    "a reset": reset,
    "500": refuse(500),
    "401": refuse(401),
}


def test_steps_may_take_their_time_together_but_not_alone() -> None:
    patience, seen = Patience(2.0), []

    def work(steps: int, pause: float) -> None:
        for number in range(steps):
            patience.step()
            time.sleep(pause)
            seen.append(number)

    patience.run(lambda: work(steps=12, pause=0.2))
    assert len(seen) == 12
    patience, over = Patience(0.2), threading.Event()

    def hang() -> None:
        patience.step(further=0.1)
        over.wait(LIMIT)
        patience.step()

    with pytest.raises(OutOfPatienceError, match="no full answer within 0 s"):
        patience.run(hang)
    with pytest.raises(OutOfPatienceError, match="nobody waits"):  # so ends the thread that was left behind
        patience.step()
    over.set()


@pytest.mark.parametrize("seconds", [None, LIMIT])
def test_what_fails_in_the_thread_fails_here(seconds: float | None) -> None:
    nothing: list[int] = []
    with pytest.raises(ValueError, match=r"not in list"):
        Patience(seconds).run(lambda: nothing.remove(1))


def test_who_knows_that_the_server_is_slow_can_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_HTTP_REQUEST_TIMEOUT", raising=False)
    monkeypatch.delenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", raising=False)
    assert answer_seconds("https://host") == 10
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "59")
    assert answer_seconds("https://host") == 120
    assert answer_seconds("sqlite:////tmp/x.db") is answer_seconds("mlruns") is None
    assert answer_seconds("postgresql+psycopg2://host/db") == 60


@pytest.mark.parametrize("manner", [*HOLDING, *REFUSING])
def test_a_server_that_answers_badly_or_never_leaves_everything_pending(
    manner: str, finished: FinishedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    if manner in HOLDING:
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with odd_server((HOLDING | REFUSING)[manner]) as server:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://{server.place}")
        ended: list[list[str | None]] = []

        def work() -> None:
            reports, problems = publish_all(finished.project, ["study", "study"])
            assert not problems
            assert all(len(report.pending) == 13 and report.sent == 0 for report in reports)
            ended.append([report.warning for report in reports])

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        worker.join(LIMIT)
        assert ended, "it still waits"
        asked = len(server.asked)
    first, second = ended[0]
    assert (first or "").startswith(f"MLflow at http://{server.place}: ")
    assert (first or "").endswith("; `mtlspec publish study` sends the rest")
    assert "not asked again after it took nothing of study" in (second or "")
    assert asked > 0
    assert waiting(finished.project) == ("study",)


def test_a_name_that_is_not_found_out_in_time_is_no_address_to_wait_for(
    finished: FinishedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    monkeypatch.setattr("mtlspec.track.conversation._LOOK_SECONDS", 0.2)
    monkeypatch.setattr("socket.create_connection", lambda *place, **options: over.wait(LIMIT))
    report = publish(finished.project, "study", uri="http://mlflow.invalid")
    over.set()
    assert "no full answer within" in (report.warning or "")
    assert len(report.pending) == 13


@pytest.mark.slow
def test_a_slow_server_that_goes_on_gets_everything_however_long_it_takes(
    finished: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real one, behind a line that holds every question up: together far longer than one answer may take."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "4")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    theirs = Project(tmp_path / "theirs")
    theirs.tracking.mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with serving(theirs, "127.0.0.1", port), slow_line(port, pause=0.2) as line:
        began = time.monotonic()
        report = publish(finished.project, "study", uri=f"http://{line.place}")
        took = time.monotonic() - began
        assert report.warning is None
        assert len(report.created) == 13
        assert took > (answer_seconds("http://x") or 0)
        assert len(publish(finished.project, "study", uri=f"http://{line.place}").unchanged) == 13
