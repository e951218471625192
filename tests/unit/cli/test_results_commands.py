"""`report`, `registry`, `publish` and `ui` from the command line."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.io.write import write_json
from mtlspec.track.record import write_record
from mtlspec.track.webserver import check_free
from tests.finished_run import FinishedRun, make_run, read


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    run = make_run(tmp_path_factory.mktemp("project"), seeds=(1,))
    write_record(run.plan, run.places)
    return run


@pytest.fixture(autouse=True)
def inside(study: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.project.root)


def test_report_prints_its_path_or_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["report", "study"]) == 0
    assert capsys.readouterr().out.strip() == "registry/runs/study/work/report.html"
    assert mtlspec(["report", "specs/study.yaml", "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("# study\n")


def test_a_missing_report_says_how_to_make_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["report", "other"]) == 6
    assert "error E622: 'other' has no report yet; `mtlspec run other` makes it" in capsys.readouterr().err


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


def test_registry_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["registry", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["spec"], row["models"], row["missing"], row["stale"]) == ("study", 4, 0, None)
    assert mtlspec(["registry", "list"]) == 0
    assert "study" in capsys.readouterr().out
    assert mtlspec(["registry", "show", "study"]) == 0
    text = capsys.readouterr().out
    assert "pair: pos + ner" in text
    assert "its spec is not in specs/ any more" in text
    assert mtlspec(["registry", "show", "study", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spec"]["name"] == "study"


def test_registry_diff_exits_1_where_records_differ(
    study: FinishedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mtlspec(["registry", "diff", "study", "study"]) == 0
    capsys.readouterr()
    other = read(study.places.record)
    other["spec"]["resolved"]["train"]["epochs"] = 7
    write_json(tmp_path / "record.json", other)
    assert mtlspec(["registry", "diff", "study", str(tmp_path / "record.json")]) == 1
    assert "spec train.epochs: 3 → 7" in capsys.readouterr().out


def test_publish_to_a_dead_server_exits_1_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{closed.getsockname()[1]}")
        assert mtlspec(["publish", "study"]) == 1
    captured = capsys.readouterr()
    assert "9 pending" in captured.out
    assert "does not answer" in captured.err


def test_ui_needs_something_to_show_and_a_free_port(capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["ui"]) == 6
    assert "E623: nothing has been published yet" in capsys.readouterr().err
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with pytest.raises(Exception, match=rf"E625: port {port} is in use; try `--port {port + 1}`"):
            check_free("127.0.0.1", port)


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
