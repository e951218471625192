"""What is removed from the registry is removed from MLflow, too: at once, or when it answers again."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.io.digest import digest_tree
from mtlspec.track.mlflow import publish
from mtlspec.track.outbox import Outbox
from mtlspec.track.server import local_uri, quiet_client
from tests.finished_run import FinishedRun
from tests.terminal import in_terminal, lines

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def own(finished: FinishedRun, empty_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FinishedRun:
    run = finished.copy_to(tmp_path / "project")
    (run.places.base / "dvc.yaml").write_text("stages: {}\n")
    run.project.tracking.mkdir()
    shutil.copy(empty_store, run.project.tracking / "mlflow.db")
    monkeypatch.chdir(run.project.root)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return run


def experiments(run: FinishedRun) -> list[str]:
    with quiet_client(local_uri(run.project)) as client:
        return sorted(found.name for found in client.search_experiments())


def test_a_removed_run_is_gone_from_mlflow_and_its_name_is_free(own: FinishedRun, capsys: Capture) -> None:
    saved = own.places.base.with_name("saved")
    shutil.copytree(own.places.base, saved)
    assert publish(own.project, "study").warning is None
    assert experiments(own) == ["Default", "study"]
    assert mtlspec(["registry", "remove", "study", "--yes"]) == 0
    assert capsys.readouterr().out == (
        "removed registry/runs/study\nremoved the experiment 'study' (1) from MLflow at registry/mlflow/mlflow.db\n"
    )
    assert experiments(own) == ["Default"]
    assert not (own.project.tracking / "artifacts" / "study").exists()
    assert mtlspec(["registry", "remove", "study", "--yes"]) == 5
    assert "E526" in capsys.readouterr().err
    saved.rename(own.places.base)
    again = publish(own.project, "study")
    assert again.warning is None and len(again.created) == 13 and not again.unchanged
    assert experiments(own) == ["Default", "study"]


def test_a_store_that_does_not_answer_is_told_and_asked_again(
    own: FinishedRun, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        server = f"http://127.0.0.1:{closed.getsockname()[1]}"
        monkeypatch.setenv("MLFLOW_TRACKING_URI", server)
        assert publish(own.project, "study").warning
        assert mtlspec(["registry", "remove", "study", "--yes"]) == 0
        told, said = capsys.readouterr().out.splitlines()
        assert told == "removed registry/runs/study" and not own.places.base.exists()
        assert said.startswith(f"still in MLflow at {server}: 127.0.0.1:") and "does not answer" in said
        assert said.endswith("; `mtlspec registry remove study` tries again")
        assert mtlspec(["publish"]) == 0
        assert capsys.readouterr().out == "nothing waits to be published\n"
        monkeypatch.delenv("MLFLOW_TRACKING_URI")
        assert mtlspec(["registry", "remove", "study", "--yes"]) == 0
        assert capsys.readouterr().out == (
            f"still in MLflow at {server}: set MLFLOW_TRACKING_URI to it, "
            "and `mtlspec registry remove study` tries again\n"
        )


def test_a_store_of_the_project_is_named_by_its_place(
    own: FinishedRun, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    Outbox(own.project, "study").wait(local_uri(own.project), ["x"], "some reason")
    assert mtlspec(["registry", "remove", "study", "--dry-run"]) == 0
    assert "MLflow at registry/mlflow/mlflow.db\n" in capsys.readouterr().out
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:1")
    assert mtlspec(["registry", "remove", "study", "--yes"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        "still in MLflow at registry/mlflow/mlflow.db: unset MLFLOW_TRACKING_URI, "
        "and `mtlspec registry remove study` tries again"
    )


def test_what_was_never_published_is_removed_without_asking_mlflow(own: FinishedRun, capsys: Capture) -> None:
    assert mtlspec(["registry", "remove", "study", "--yes"]) == 0
    assert capsys.readouterr().out == "removed registry/runs/study\n"


def test_a_run_is_removed_only_if_somebody_says_so(own: FinishedRun, capsys: Capture) -> None:
    """In a terminal it asks; without one it wants to be told; a dry run lists and touches nothing."""
    (own.project.root / "dvc.yaml").write_text("stages: {}\n")
    before = digest_tree(own.project.root)
    files, size = len(before_run := digest_tree(own.places.base)), _megabytes(own.places.base, before_run)
    assert publish(own.project, "study", uri="http://127.0.0.1:1").pending
    assert mtlspec(["registry", "remove", "study", "--dry-run"]) == 0
    listed = f"""\
        what where
        {files} files, {size} MB registry/runs/study/
        the stage results@study dvc.yaml
        the experiment 'study' MLflow at http://127.0.0.1:1
        the spec, git's history and DVC's cache stay"""
    told = capsys.readouterr().out
    assert _words(told) == _words(f"this would be removed: {listed}")
    assert mtlspec(["registry", "remove", "study"]) == 6
    captured = capsys.readouterr()
    assert captured.err == (
        "error E640: nothing was removed: there is no terminal to ask in; "
        "add `--yes` to remove it, or `--dry-run` to see what would go\n"
    )
    command = [sys.executable, "-m", "mtlspec", "registry", "remove", "study"]
    status, drawn = in_terminal(command, own.project.root, os.environ, typed="n\n")
    assert status == 1
    assert lines(drawn)[-1] == "remove it? [y/N]: nothing was removed"  # the answer came first, and was echoed there
    assert _words(f"this will be removed: {listed}") in _words(drawn)
    after = digest_tree(own.project.root)
    assert {name: after[name] for name in before} == before
    status, drawn = in_terminal(command, own.project.root, os.environ, typed="y\n")
    assert status == 0 and "removed registry/runs/study" in drawn
    assert not own.places.base.exists()


def _megabytes(folder: Path, files: Iterable[str]) -> str:
    return f"{sum((folder / name).stat().st_size for name in files) / 1e6:.1f}"


def _words(text: str) -> str:
    return " ".join(" ".join(lines(text)).replace("─", "").split())
