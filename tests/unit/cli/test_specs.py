"""How a spec is named on the command line, and what is said if there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.cli.specs import find_spec
from mtlspec.errors import SpecError
from mtlspec.io.project import Project
from tests.unit.spec.small_project import make_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = make_project(tmp_path)
    monkeypatch.chdir(project.root)
    return project


@pytest.mark.parametrize("name", ["study", "study.yaml", "specs/study.yaml", "./specs/study.yaml"])
@pytest.mark.parametrize("folder", [".", "registry/data"])
def test_a_spec_is_found_by_its_name_or_file(
    name: str, folder: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root / folder)
    assert find_spec(name, project) == project.root / "specs/study.yaml"


def test_a_file_at_hand_comes_before_one_in_specs(project: Project) -> None:
    (project.root / "study.yaml").write_text("mtlspec: 1\n")
    assert find_spec("study.yaml", project) == project.root / "study.yaml"


MISSING = {
    "studdy": "there is no spec 'studdy'; did you mean 'study'?",
    "specs/studdy.yaml": "there is no spec 'specs/studdy.yaml'; did you mean 'study'?",
    "dd": "the spec 'dd' is no file: specs/dd.yaml is a folder; known: study",
    "dd.yaml": "the spec 'dd.yaml' is no file: specs/dd.yaml is a folder; known: study",
    "gone": "the spec 'gone' is no file: specs/gone.yaml is a link that leads nowhere; known: study",
    "specs": "the spec 'specs' is no file: specs is a folder; known: study",
    "": "there is no spec ''; known: study",
    "x" * 300: f"there is no spec '{'x' * 300}'; known: study",
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_no_spec_is_one_clear_line(name: str, project: Project) -> None:
    (project.root / "specs/dd.yaml").mkdir()
    (project.root / "specs/gone.yaml").symlink_to("nowhere.yaml")
    with pytest.raises(SpecError) as caught:
        find_spec(name, project)
    assert str(caught.value) == f"error E190: {MISSING[name]}"
