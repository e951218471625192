"""A finished run, made once for each module that only reads it."""

from __future__ import annotations

import pytest

from tests.finished_run import FinishedRun, make_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return make_run(tmp_path_factory.mktemp("project"))
