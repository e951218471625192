"""`report`, `registry`, `publish` and `ui` from the command line."""

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
from mtlspec.track.outbox import Outbox
from mtlspec.track.view import VIEW_KEY
from mtlspec.track.webserver import check_free
from tests.finished_run import FinishedRun

ALL_IS_KEPT = (
    "interrupted: all stages are done and kept\n"
    "`mtlspec publish study` mirrors them to MLflow, `mtlspec registry show study` shows scores\n"
)


@pytest.fixture(autouse=True)
def inside(study: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.project.root)


def test_report_prints_its_path_or_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["report", "study"]) == 0
    assert capsys.readouterr().out.strip() == "registry/runs/study/work/report.html"
    assert mtlspec(["report", "specs/study.yaml", "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("# study\n")


def test_a_missing_report_says_how_to_make_one(own: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    add_spec(own, "other")
    assert mtlspec(["report", "other"]) == 6
    assert "error E622: 'other' has no report yet; `mtlspec run other` makes it" in capsys.readouterr().err


def add_spec(run: FinishedRun, name: str) -> None:
    """One that has not been run."""
    file = run.project.root / "specs" / f"{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"name: {name}\n")


@pytest.mark.parametrize("command", ["report", "publish", "ui", "verify"])
def test_nobody_is_told_to_run_what_is_no_spec(
    command: str, own: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    add_spec(own, "other")
    for name in ("nosuch", "specs/nosuch.yaml"):
        assert mtlspec([command, name]) == 2
        assert capsys.readouterr().err == f"error E190: there is no spec '{name}'; known: other\n"


def make_store(run: FinishedRun, experiments: list[tuple[int, str, str]]) -> None:
    """MLflow's, as far as `ui` looks."""
    run.project.tracking.mkdir()
    with closing(sqlite3.connect(run.project.tracking / "mlflow.db")) as store:
        store.execute("CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT)")
        store.executemany("INSERT INTO experiments VALUES (?, ?, ?)", experiments)
        store.commit()


def test_a_spec_is_found_by_the_name_it_gives_itself(study: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    file = study.project.root / "specs" / "draft.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("name: study\n")
    try:
        for reference in ("draft", "specs/draft.yaml"):
            assert mtlspec(["report", reference]) == 0
            assert capsys.readouterr().out.strip() == "registry/runs/study/work/report.html"
    finally:
        file.unlink()


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

    make_store(own, [(7, "study", "active"), (8, "gone", "deleted"), (9, "removed", "active")])
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
    add_spec(own, "gone")
    assert mtlspec(["ui", "gone", "--port", "5999"]) == 6
    assert "E624: 'gone' has not been published" in capsys.readouterr().err


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


def _told_when_interrupted(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stop:
        mtlspec(arguments)
    assert stop.value.code == 130
    return capsys.readouterr().err


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


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


@pytest.mark.parametrize(("text", "code"), [(None, "E509"), ("{", "E511")])
@pytest.mark.parametrize("command", ["report", "publish"])
def test_a_plan_that_is_gone_or_broken_is_named(
    command: str, text: str | None, code: str, own: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    own.places.plan.unlink()
    if text is not None:
        own.places.plan.write_text(text)
    assert mtlspec([command, "study"]) == 5
    captured = capsys.readouterr()
    assert f"{own.places.plan}: error {code}: " in captured.err
    assert captured.err.count("\n") == 1


def test_a_run_that_cannot_be_published_keeps_no_other_from_it(
    own: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    (own.project.tracking / "mlflow.db").mkdir(parents=True)
    add_spec(own, "nothing")
    assert mtlspec(["publish", "nothing", "nosuch", "study"]) == 2
    captured = capsys.readouterr()
    assert "MLflow runs of study: 0 new, 0 changed, 0 as before, 9 pending" in captured.out
    assert "E621: 'nothing' has not been run" in captured.err
    assert "E190: there is no spec 'nosuch'; known: nothing" in captured.err


@pytest.mark.parametrize("options", [["--sample", "3"], ["--seed", "3"], ["--rerun", "--seed", "3"]])
def test_an_option_of_verify_that_would_do_nothing_is_refused(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert mtlspec(["verify", "study", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"error: Invalid value for {options[-2]}: " in captured.err
    assert "add --rerun" in captured.err
    assert captured.err.count("\n") == 1


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


def test_a_finished_run_speaks_plainly_before_its_numbers(
    study: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    from mtlspec.cli.outcome import show_outcome

    show_outcome(study.project, study.places)
    lines = capsys.readouterr().out.splitlines()
    asked, question, told, *_ = (line for line in lines if line)
    assert asked == "asked: A made-up study."
    assert question == "  - Do other ways of training score differently from stl?"
    assert told.startswith("    That could not be tested: one seed")
    assert lines.index("stl: each task on its own") < next(i for i, line in enumerate(lines) if "test scores" in line)


def test_a_finished_run_names_only_commands_that_work(
    own: FinishedRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mtlspec.cli.outcome import show_outcome

    def commands() -> list[str]:
        show_outcome(own.project, own.places)
        return [line for line in capsys.readouterr().out.splitlines() if line.startswith(("publish", "compare"))]

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert commands() == ["publish  mtlspec publish study", "compare  mtlspec ui study"]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow.example:5000")
    assert commands() == []  # what is on a server is not in our own page
    make_store(own, [(7, "study", "active")])
    assert commands() == ["compare  mtlspec ui study"]
