"""Names of runs: one spec, one name; broken and unwanted runs do not stand in the way of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.errors import SpecError
from mtlspec.execute.materialise import materialise
from mtlspec.io.project import Project
from tests.e2e.study import DATA_CARD, ENCODER_CARD, SPEC


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    files = {"registry/data/mini.yaml": DATA_CARD, "registry/encoders/micro.yaml": ENCODER_CARD}
    for name, text in {**files, "specs/small.yaml": SPEC, "specs/copy.yaml": SPEC}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    project = Project(tmp_path)
    materialise(project, tmp_path / "specs/small.yaml").write()
    return project


def test_a_copy_that_kept_its_name_does_not_replace_the_first(project: Project) -> None:
    with pytest.raises(SpecError) as caught:
        materialise(project, project.root / "specs/copy.yaml")
    assert str(caught.value) == (
        "specs/copy.yaml: error E189: the name 'small' is that of specs/small.yaml, which has been run; "
        "give this spec another name, or `mtlspec registry remove small`"
    )
    assert materialise(project, project.root / "specs/copy.yaml", ["name=other"]).plan.spec == "other"


def test_a_spec_that_was_moved_or_renamed_keeps_its_run(project: Project) -> None:
    first = project.root / "specs/small.yaml"
    first.write_text(SPEC.replace("name: small", "name: small_2"))
    assert materialise(project, project.root / "specs/copy.yaml").plan.spec == "small"
    first.unlink()
    assert materialise(project, project.root / "specs/copy.yaml").plan.spec == "small"


def test_status_shows_other_specs_beside_a_broken_one(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for number, text in enumerate((None, "1", "{", "[]")):
        run = project.root / "registry" / "runs" / f"broken_{number}"
        (run / "stages").mkdir(parents=True)
        (run / "dvc.yaml").write_text("foo: [")
        if text is not None:
            (run / "stages" / "plan.json").write_text(text)
    assert mtlspec(["status", "--json"]) == 0
    *broken, small = json.loads(capsys.readouterr().out)
    assert [row["error"] for row in broken] == [
        f"error E822: its stages are broken; run it again, or `mtlspec registry remove broken_{number}`"
        for number in range(4)
    ]
    assert small["spec"] == "small" and "error" not in small


def test_a_removed_run_leaves_the_pipeline(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["registry", "remove", "smal", "--yes"]) == 5
    assert "error E526: there is no run of 'smal' in the registry; did you mean 'small'?" in capsys.readouterr().err
    assert mtlspec(["registry", "remove", "small", "--yes"]) == 0
    assert capsys.readouterr().out == "removed registry/runs/small\n"
    assert not (project.root / "registry/runs/small").exists()
    assert (project.root / "dvc.yaml").read_text().endswith("stages: {}\n")
    assert (project.root / "specs/small.yaml").is_file()
