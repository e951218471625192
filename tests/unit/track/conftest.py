"""A finished run, made once for each module that only reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

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
