"""`publish` from the command line and after a run: what cannot be sent, and Ctrl-C."""

from __future__ import annotations

import socket
import sys

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.execute import publishing
from mtlspec.track.outbox import Outbox
from tests.finished_run import FinishedRun

pytestmark = pytest.mark.usefixtures("inside")
ALL_IS_KEPT = (
    "interrupted: all stages are done and kept\n"
    "`mtlspec publish study` mirrors them to MLflow, `mtlspec registry show study` shows scores\n"
)


def test_publish_to_a_dead_server_exits_1_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{closed.getsockname()[1]}")
        assert mtlspec(["publish", "study"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "MLflow runs of study: 0 new, 0 changed, 0 as before, 9 pending\n"
    assert "does not answer" in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["ui"], ["ui", "study"], ["publish", "study"], ["publish", "study", "--quick"]])
@pytest.mark.parametrize("place", ["registry/mlflow", "registry/mlflow/mlflow.db"])
def test_a_broken_store_is_one_line_and_not_a_success(
    arguments: list[str], place: str, own: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    file = own.project.root / place
    file.parent.mkdir(exist_ok=True)
    file.write_text("garbage\n")
    pending = arguments[0] == "publish" and place.endswith(".db")
    assert mtlspec(arguments) == (1 if pending else 6)
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert captured.err.endswith(
        f"; give {place} another name, and `mtlspec publish study` makes a new store from the records; "
        "only what was added in MLflow by hand or by other programs is in no record\n"
    )
    assert ("9 pending" in captured.out) == pending


def test_a_run_that_cannot_be_published_keeps_no_other_from_it(
    own: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    (own.project.tracking / "mlflow.db").mkdir(parents=True)
    own.add_spec("nothing")
    assert mtlspec(["publish", "nothing", "nosuch", "study"]) == 2
    captured = capsys.readouterr()
    assert "MLflow runs of study: 0 new, 0 changed, 0 as before, 9 pending" in captured.out
    assert "E621: 'nothing' has not been run" in captured.err
    assert "E190: there is no spec 'nosuch'; known: nothing" in captured.err


def test_a_run_says_in_one_line_what_mlflow_did_not_take(own: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    (own.project.tracking / "mlflow.db").mkdir(parents=True)
    notes: list[str] = []
    publishing.publish_apart(own.project, "study", notes.append)
    monkeypatch.setattr(publishing, "_PATIENCE", 0.001)
    publishing.publish_apart(own.project, "study", notes.append)
    broken, slow = notes
    assert broken.startswith("not published: MLflow at sqlite:///")
    assert "; give registry/mlflow/mlflow.db another name, and `mtlspec publish study` makes a new store" in broken
    assert slow.startswith("not published: MLflow was not done after")


def test_ctrl_c_while_a_run_is_published_says_that_all_is_kept_and_how_to_go_on(
    own: FinishedRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The stages are done: the process that publishes is replaced by one that interrupts us as a terminal would."""
    (own.project.root / "specs").mkdir(exist_ok=True)
    (own.project.root / "specs" / "study.yaml").write_text("name: study\n")
    interrupting = own.project.root / "interrupting"
    interrupting.write_text("#!/bin/sh\nkill -INT $PPID\nexec sleep 60\n")
    interrupting.chmod(0o755)
    monkeypatch.setattr("mtlspec.execute.run.run_spec", lambda *_: own)
    monkeypatch.setattr(sys, "executable", str(interrupting))
    assert _told_when_interrupted(["run", "study"], capsys) == ALL_IS_KEPT


@pytest.mark.parametrize("where", ["mtlspec.execute.publishing.subprocess.Popen", "mtlspec.cli.outcome.show_outcome"])
def test_ctrl_c_around_publishing_says_that_all_is_kept(
    where: str, own: FinishedRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("mtlspec.cli.specs.find_wanted", lambda *_: (own.project.root / "specs/study.yaml", ()))
    monkeypatch.setattr("mtlspec.execute.run.run_spec", lambda *_: own)
    monkeypatch.setattr(where, _interrupt)
    publish = [] if "Popen" in where else ["--no-publish"]
    assert _told_when_interrupted(["run", "study", *publish], capsys) == ALL_IS_KEPT
    monkeypatch.setattr("mtlspec.execute.run.run_spec", _interrupt)
    told = "interrupted: all finished stages are kept\nthe same command goes on\n"
    assert _told_when_interrupted(["run", "study"], capsys) == told


@pytest.mark.parametrize("arguments", [["publish", "study"], ["publish"]])
def test_ctrl_c_while_publishing_says_what_waits_and_how_to_go_on(
    arguments: list[str], own: FinishedRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (own.project.tracking / "mlflow.db").mkdir(parents=True)
    assert mtlspec(["publish", "study"]) == 1
    capsys.readouterr()
    monkeypatch.setattr("mtlspec.track.mlflow.unusable", _interrupt)
    assert _told_when_interrupted(arguments, capsys) == (
        f"interrupted: what was sent is kept, the rest waits in the outbox\n`mtlspec {' '.join(arguments)}` sends it\n"
    )
    assert len(Outbox(own.project, "study").pending()) == 9


def _told_when_interrupted(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stop:
        mtlspec(arguments)
    assert stop.value.code == 130
    return capsys.readouterr().err


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
