"""The project is found from below, and nothing is written outside it."""

from pathlib import Path

import pytest

from mtlspec.errors import SetupError
from mtlspec.io.locks import exclusive
from mtlspec.io.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "registry" / "runs" / "x").mkdir(parents=True)
    (tmp_path / "specs").mkdir()
    return Project(tmp_path)


def test_found_from_any_folder_below(project: Project) -> None:
    assert Project.find(project.root / "registry" / "runs" / "x") == project


def test_a_folder_that_is_no_project_says_so(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="E601"):
        Project.find(tmp_path)


@pytest.mark.parametrize("path", ["../elsewhere", "/etc/passwd", "registry/../../x"])
def test_paths_that_leave_the_project_are_refused(project: Project, path: str) -> None:
    with pytest.raises(SetupError, match="E602"):
        project.inside(Path(path))


def test_a_link_that_leaves_the_project_is_refused(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (project.root / "link").symlink_to(outside)
    with pytest.raises(SetupError, match="E602"):
        project.inside(Path("link/file"))


def test_a_lock_is_held_once_and_freed_by_its_end(project: Project) -> None:
    path = project.state / "a.lock"
    with exclusive(path, "running"), pytest.raises(SetupError, match="E603"), exclusive(path, "running"):
        pass
    with exclusive(path, "running"):
        pass
