"""A server that is dead and a store that is broken: everything waits, and one line says why."""

from __future__ import annotations

import resource
import shutil
import socket
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mtlspec.errors import SetupError
from mtlspec.track.items import items
from mtlspec.track.mlflow import publish
from mtlspec.track.outbox import Outbox, waiting
from mtlspec.track.server import experiment_id, local_store, local_uri, quiet_client, unusable
from mtlspec.track.view import experiment_tags
from tests.finished_run import FinishedRun

ALL = 13  # four models with two seeds each, and the report


MEND = (
    "give registry/mlflow/mlflow.db another name, and `mtlspec publish study` makes a new store from the records; "
    "only what was added in MLflow by hand or by other programs is in no record"
)


def _tear(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.executescript("CREATE TABLE a (x); INSERT INTO a VALUES (randomblob(90000)); CREATE TABLE b (x)")
    path.write_bytes(path.read_bytes()[:512] + bytes(4000))


BROKEN: dict[str, Callable[[Path], object]] = {
    "a folder stands in place of the file": Path.mkdir,
    "file is not a database": lambda path: path.write_text("garbage\n"),
    "database disk image is malformed": _tear,
}


def test_a_refused_connection_leaves_everything_pending_then_it_is_delivered(unpublished: FinishedRun) -> None:
    with socket.socket() as closed:  # bound, not listening: connections are refused
        closed.bind(("127.0.0.1", 0))
        report = publish(unpublished.project, "study", uri=f"http://127.0.0.1:{closed.getsockname()[1]}")
    assert report.sent == 0
    assert len(report.pending) == ALL
    assert "does not answer" in (report.warning or "")
    assert waiting(unpublished.project) == ("study",)
    assert len(Outbox(unpublished.project, "study").pending()) == ALL
    delivered = publish(unpublished.project, "study", uri=local_uri(unpublished.project))
    assert len(delivered.created) == ALL
    assert waiting(unpublished.project) == ()


def test_a_store_that_cannot_grow_is_one_line_and_no_traceback_of_a_library(
    unpublished: FinishedRun, capfd: pytest.CaptureFixture[str]
) -> None:
    """The kernel's limit for file sizes stands in for a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (local_store(unpublished.project).stat().st_size, before[1]))
    try:
        report = publish(unpublished.project, "study")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert report.pending and report.warning
    assert capfd.readouterr() == ("", "")
    assert publish(unpublished.project, "study").pending == []


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_store_leaves_everything_pending_and_is_said_to_be_broken(
    problem: str, unpublished: FinishedRun, empty_store: Path
) -> None:
    wanted, store = items(unpublished.plan, unpublished.places), local_store(unpublished.project)
    Outbox(unpublished.project, "study").deliver(
        local_uri(unpublished.project), wanted, experiment_tags(unpublished.plan, wanted)
    )
    store.unlink()
    BROKEN[problem](store)
    for quick in (True, False, True):
        report = publish(unpublished.project, "study", quick=quick)
        assert (report.sent, report.unchanged) == (0, [])
        assert len(report.pending) == ALL
        assert report.warning == f"MLflow at {local_uri(unpublished.project)}: {problem}; {MEND}"
    assert waiting(unpublished.project) == ("study",)
    store.rename(store.with_name("old"))
    shutil.copy(empty_store, store)
    assert len(publish(unpublished.project, "study", quick=True).created) == ALL
    assert waiting(unpublished.project) == ()


def test_a_note_of_delivery_ends_with_the_store(unpublished: FinishedRun) -> None:
    other, uri, store = (
        Outbox(unpublished.project, "other"),
        local_uri(unpublished.project),
        local_store(unpublished.project),
    )
    other.deliver(uri, (), {})
    store.unlink()
    store.mkdir()
    publish(unpublished.project, "study")
    assert not other.delivered(uri, (), {})


def test_a_store_that_cannot_be_opened_is_not_tried_for_minutes(tmp_path: Path) -> None:
    failed: list[Exception] = []

    def opening() -> None:
        try:
            with quiet_client(f"sqlite:///{tmp_path}") as client:
                client.search_experiments()
        except Exception as error:
            failed.append(error)

    worker = threading.Thread(target=opening, daemon=True)
    worker.start()
    worker.join(60)  # not a limit on speed: MLflow alone sleeps a hundred seconds
    assert "unable to open database file" in str(failed)


def test_a_store_of_another_mlflow_is_one_clear_line(unpublished: FinishedRun) -> None:
    with closing(sqlite3.connect(local_store(unpublished.project))) as store:
        store.execute("UPDATE alembic_version SET version_num = 'other'")
        store.execute("ALTER TABLE experiments RENAME COLUMN name TO title")
        store.commit()
    with pytest.raises(SetupError, match=f"E629: MLflow's store: no such column: name; {MEND}"):
        experiment_id(unpublished.project, "study")
    warning = publish(unpublished.project, "study").warning or ""
    assert "out-of-date database schema" in warning
    assert f"sends the rest; if that fails too, {MEND}" in warning


@pytest.mark.parametrize("uri", ["http://host:port", "http://[::1", "https://" + "x" * 70])
def test_a_bad_address_is_a_reason(uri: str, unpublished: FinishedRun) -> None:
    report = publish(unpublished.project, "study", uri=uri)
    assert len(report.pending) == ALL
    assert "not an address" in (report.warning or "") or "does not answer" in (report.warning or "")


def test_a_dead_database_server_is_found_out_by_its_port_and_passwords_are_not_told(unpublished: FinishedRun) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{closed.getsockname()[1]}"
        report = publish(unpublished.project, "study", uri=f"postgresql+psycopg2://me:secret@{place}/db")
    assert (report.warning or "").startswith(f"MLflow at postgresql+psycopg2://{place}/db: {place} does not answer")


def test_a_store_that_is_not_there_yet_can_be_made_if_its_folders_can(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert unusable(f"sqlite:///{tmp_path}/new/folder/mlflow.db") is None
    assert unusable(f"sqlite:///{tmp_path}/file/mlflow.db") == f"{tmp_path}/file is not a folder"
    (tmp_path / "empty.db").touch()
    assert unusable(f"sqlite:///{tmp_path}/empty.db") is None


def test_a_store_in_use_is_not_broken(unpublished: FinishedRun) -> None:
    with closing(sqlite3.connect(local_store(unpublished.project), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert unusable(local_uri(unpublished.project)) is None
