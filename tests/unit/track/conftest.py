"""A finished run, made once for each module that only reads it, and copies to publish."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mtlspec.track.record import write_record
from mtlspec.track.server import quiet_client
from tests.finished_run import FinishedRun, make_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return make_run(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MLflow spends seconds on a new database; one is enough, tests start from copies of it."""
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    with quiet_client(f"sqlite:///{path}") as client:
        client.search_experiments()
    return path


@pytest.fixture
def unpublished(finished: FinishedRun, empty_store: Path, tmp_path: Path) -> FinishedRun:
    """The same project with a database of its own that was not published to yet."""
    run = finished.copy_to(tmp_path / "project")
    write_record(run.plan, run.places)
    run.project.tracking.mkdir()
    shutil.copy(empty_store, run.project.tracking / "mlflow.db")
    return run
