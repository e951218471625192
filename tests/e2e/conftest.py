from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.study import Study
from tests.terminal import in_terminal


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study that was run once, at the place where tests will find their copies: compiled code is kept by path."""
    folder = tmp_path_factory.mktemp("e2e")
    study = Study.create(folder / "study", own_package=True)
    status, drawn = in_terminal(study.command("run", "small", "--no-publish"), study.root, study.environment)
    assert status == 0, drawn
    (folder / "drawn").write_text(drawn)
    return study.copy(folder / "finished")


@pytest.fixture(scope="session")
def drawn(finished: Study) -> str:
    """All that the first run wrote to its terminal of 80 columns."""
    return (finished.root.parent / "drawn").read_text()


@pytest.fixture
def study(finished: Study) -> Study:
    """A fresh copy of the finished study."""
    place: Path = finished.root.parent / "study"
    shutil.rmtree(place)
    return finished.copy(place)
