from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.study import Study


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study that was run once, at the place where tests will find their copies: compiled code is kept by path."""
    folder = tmp_path_factory.mktemp("e2e")
    study = Study.create(folder / "study")
    study.mtlspec("run", "small", "--no-publish")
    return study.copy(folder / "finished")


@pytest.fixture
def study(finished: Study) -> Study:
    """A fresh copy of the finished study."""
    place: Path = finished.root.parent / "study"
    shutil.rmtree(place)
    return finished.copy(place)
