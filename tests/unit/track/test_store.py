"""The project's own MLflow database: whole or not there, whenever its maker is killed."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from mtlspec.track.mlflow import publish, unpublish
from mtlspec.track.outbox import Outbox
from mtlspec.track.server import local_store, local_uri
from mtlspec.track.store import is_unfinished, make_whole
from tests.finished_run import FinishedRun

TEMPORARY = "_alembic_tmp_experiment_tags"
KILLED_IN_A_MIGRATION = f"""
import os, signal, sys
from sqlalchemy import event
from sqlalchemy.engine import Engine

@event.listens_for(Engine, "after_cursor_execute")
def end(connection, cursor, statement, parameters, context, executemany):
    if "CREATE TABLE {TEMPORARY}" in statement:
        os.kill(os.getpid(), signal.SIGKILL)

from mtlspec.cli.app import run
sys.exit(run(["publish", "study"]))
"""


@contextmanager
def _changing(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA foreign_keys = OFF")
        yield store
        store.commit()


def _add_run(store: sqlite3.Connection) -> None:
    store.execute("INSERT INTO runs (run_uuid, experiment_id) VALUES ('a', 0)")


def test_publishing_rebuilds_a_store_that_was_left_half_migrated(
    finished: FinishedRun, empty_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow takes seconds for a new database: a copy of one is as good."""
    run = finished.copy_to(tmp_path / "project")
    store = local_store(run.project)
    store.parent.mkdir()
    shutil.copy(empty_store, store)
    with _changing(store) as half:
        half.execute(f"CREATE TABLE {TEMPORARY} (x)")
        half.execute("DROP TABLE experiment_tags")
    for left in ("mlflow.db-wal", "mlflow.db.building", "mlflow.db.building-journal"):
        store.with_name(left).write_bytes(b"of an earlier attempt")
    monkeypatch.setattr("mtlspec.track.store._build", lambda path: shutil.copy(empty_store, path))
    report = publish(run.project, "study")
    assert (report.warning, report.pending) == (None, [])
    assert report.created
    assert [path.name for path in store.parent.glob("mlflow.db*")] == ["mlflow.db"]


def test_publishing_works_after_a_kill_in_the_middle_of_making_the_store(finished: FinishedRun, tmp_path: Path) -> None:
    run = finished.copy_to(tmp_path / "project")
    store = local_store(run.project)
    building = store.with_name("mlflow.db.building")
    done = subprocess.run([sys.executable, "-c", KILLED_IN_A_MIGRATION], cwd=run.project.root, check=False)
    assert done.returncode == -signal.SIGKILL
    assert building.is_file() and not store.exists()

    shutil.copy(building, store)  # what was left when stores were made in their place
    with closing(sqlite3.connect(store)) as half:
        assert half.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [TEMPORARY]).fetchone()
    store.with_name("mlflow.db-wal").write_bytes(b"of another store")
    report = publish(run.project, "study")
    assert (report.warning, report.pending) == (None, [])
    assert report.created
    assert not is_unfinished(store)
    assert [path.name for path in store.parent.glob("mlflow.db*")] == ["mlflow.db"]


@pytest.mark.parametrize(
    "change",
    [
        f"CREATE TABLE {TEMPORARY} (x)",
        "DELETE FROM alembic_version",
        "DROP TABLE alembic_version",
        "DELETE FROM experiments",
    ],
)
def test_a_store_is_unfinished_only_while_it_holds_no_runs(change: str, empty_store: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(empty_store, tmp_path / "mlflow.db"))
    assert not is_unfinished(path)
    with _changing(path) as store:
        store.execute(change)
    assert is_unfinished(path)
    with _changing(path) as store:
        _add_run(store)
    assert not is_unfinished(path)
    before = path.read_bytes()
    aside = make_whole(path)
    assert (aside is not None) == (TEMPORARY in change), "half migrated, it is made again and kept"
    assert (aside or path).read_bytes() == before


def test_runs_that_a_migration_was_moving_are_runs(empty_store: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(empty_store, tmp_path / "mlflow.db"))
    with _changing(path) as store:
        _add_run(store)
        store.execute("CREATE TABLE _alembic_tmp_runs AS SELECT * FROM runs")
        store.execute("DROP TABLE runs")
    assert not is_unfinished(path)


def test_a_missing_or_empty_store_is_unfinished_and_what_is_no_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    assert is_unfinished(path)
    path.touch()
    assert is_unfinished(path)
    path.write_text("garbage\n")
    make_whole(path)
    assert path.read_text() == "garbage\n"


def test_an_unfinished_store_was_delivered_nothing(finished: FinishedRun, tmp_path: Path) -> None:
    run = finished.copy_to(tmp_path / "project")
    Outbox(run.project, "study").deliver(local_uri(run.project), (), {})
    local_store(run.project).touch()
    assert unpublish(run.project, "study") is None
    assert Outbox(run.project, "study").address() is None
