"""A finished run for the tests of commands that show, compare and publish it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.track.record import write_record
from tests.finished_run import FinishedRun, make_run


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    run = make_run(tmp_path_factory.mktemp("project"), seeds=(1,))
    write_record(run.plan, run.places)
    return run


@pytest.fixture
def inside(study: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is given in the project of the study."""
    monkeypatch.chdir(study.project.root)


@pytest.fixture
def own(study: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FinishedRun:
    """A copy of the study that may be broken."""
    run = study.copy_to(tmp_path / "project")
    monkeypatch.chdir(run.project.root)
    return run
