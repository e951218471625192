"""`ui` from the command line: the page it opens, and the server behind it."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.execute import publishing
from mtlspec.io.project import Project
from mtlspec.track.view import VIEW_KEY
from mtlspec.track.webserver import check_free
from tests.finished_run import FinishedRun

pytestmark = pytest.mark.usefixtures("inside")


def test_ui_needs_something_to_show_and_a_free_port(capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["ui"]) == 6
    assert "E623: nothing has been published yet" in capsys.readouterr().err
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(Exception, match=rf"E625: port {port} is in use; try `--port {port + 1}`"):
            check_free("127.0.0.1", port)


def test_ui_says_what_it_does_and_where_the_classic_page_is(
    own: FinishedRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def serving(project: Project, host: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
        assert (project, host, port) == (own.project, "127.0.0.1", 5999)
        assert "starting MLflow's server on port 5999" in capsys.readouterr().err  # before it is there
        with subprocess.Popen(["true"]) as server:
            yield server

    own.add_store([(7, "study", "active"), (8, "gone", "deleted"), (9, "removed", "active")])
    monkeypatch.setattr("mtlspec.track.webserver.serving", serving)
    assert mtlspec(["ui", "study", "--port", "5999"]) == 0
    captured = capsys.readouterr()
    page = f"#/experiments/7/runs?workflowType=machine_learning&viewStateShareKey={VIEW_KEY}"
    assert captured.out == f"http://127.0.0.1:5999/{page}\n"
    assert captured.err == "MLflow answers after 0 s; Ctrl-C ends it\n"
    assert mtlspec(["ui", "--port", "5999"]) == 0
    assert capsys.readouterr().out == "http://127.0.0.1:5999/#/experiments?workflowType=machine_learning\n"
    assert mtlspec(["ui", "removed", "--port", "5999"]) == 0  # from the registry, and still in MLflow
    assert "#/experiments/9/" in capsys.readouterr().out
    own.add_spec("gone")
    assert mtlspec(["ui", "gone", "--port", "5999"]) == 6
    assert "E624: 'gone' has not been published" in capsys.readouterr().err


def test_ui_makes_a_store_that_was_left_half_migrated_again_and_keeps_the_old_one(
    own: FinishedRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def serving(*_: object) -> Iterator[subprocess.Popen[bytes]]:
        with subprocess.Popen(["true"]) as server:
            yield server

    monkeypatch.setattr("mtlspec.track.webserver.serving", serving)
    publishing.publish_apart(own.project, "study", lambda _: None)  # here MLflow would keep the old file open
    store = own.project.tracking / "mlflow.db"
    with closing(sqlite3.connect(store)) as half:
        half.execute("CREATE TABLE _alembic_tmp_runs (x)")
        half.execute("DROP TABLE metrics")
        half.commit()
    broken = store.read_bytes()
    capsys.readouterr()
    assert mtlspec(["ui", "study", "--port", "5998"]) == 0
    captured = capsys.readouterr()
    assert "/#/experiments/1/runs?" in captured.out
    assert captured.err.splitlines()[:2] == [
        "MLflow's store was left half migrated: making it again from 1 record",
        "the old store is kept as registry/mlflow/broken-1-mlflow.db",
    ]
    assert store.with_name("broken-1-mlflow.db").read_bytes() == broken
    assert mtlspec(["publish", "study"]) == 0
    assert capsys.readouterr().out == "MLflow runs of study: 0 new, 0 changed, 9 as before\n"


def test_the_web_server_ends_when_its_parent_is_gone(tmp_path: Path) -> None:
    """The keeper's standard input closes, as it does when its parent is killed: the grandchild must end."""
    pid_file = tmp_path / "pid"
    code = f"import os, time, pathlib; pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid())); time.sleep(300)"
    keeper = subprocess.Popen(
        [sys.executable, "-m", "mtlspec.track.webserver", sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    while not (pid_file.is_file() and pid_file.read_text()):
        assert keeper.poll() is None
        time.sleep(0.05)
    child = Path("/proc") / pid_file.read_text()
    assert keeper.stdin is not None
    keeper.stdin.close()
    keeper.wait(60)
    assert not child.exists()


def test_the_last_line_of_a_server_that_fails_is_its_own() -> None:
    command = [
        sys.executable,
        "-m",
        "mtlspec.track.webserver",
        sys.executable,
        "-c",
        "import sys; sys.exit('old store')",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as keeper:
        assert keeper.wait(60) == 1
        assert keeper.stderr is not None
        assert keeper.stderr.read() == b"old store\n"
