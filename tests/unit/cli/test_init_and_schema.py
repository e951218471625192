"""`mtlspec init` and `mtlspec schema`, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtlspec.cli.app import run
from mtlspec.io.project import Project
from mtlspec.spec.load import load_spec


def test_init_makes_a_project_whose_spec_is_correct(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "first"]) == 0
    made = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.yaml"))
    housekeeping = [".dvc/.gitignore", ".dvc/config", ".dvcignore", ".gitignore"]
    assert all((tmp_path / name).is_file() for name in housekeeping)
    assert made == ["registry/data/english_mini.yaml", "registry/encoders/tiny.yaml", "specs/first.yaml"]
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))
    assert run(["check", "first"]) == 0
    assert run(["init", "second"]) == 0
    assert run(["check", "first", "second"]) == 0
    assert "NAME" not in (tmp_path / "specs/second.yaml").read_text()
    assert capsys.readouterr().err == ""


def test_the_starter_has_the_learning_rates_of_its_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of BERT leave the small encoder where it was."""
    monkeypatch.chdir(tmp_path)
    assert run(["init", "first"]) == 0
    starter = load_spec(tmp_path / "specs/first.yaml", Project(tmp_path)).spec
    shipped = Project.find(Path(__file__).parent)
    study = load_spec(shipped.root / "specs/stem_cell.yaml", shipped).spec
    assert starter.encoder.card == study.encoder.card == "tiny"
    assert starter.train.lr == study.train.lr and starter.train.batch == study.train.batch


def test_init_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "first"]) == 0
    (tmp_path / "specs/first.yaml").write_text("mine")
    assert run(["init", "first"]) == 6
    assert (tmp_path / "specs/first.yaml").read_text() == "mine"
    assert "error E680: the file exists and is not overwritten" in capsys.readouterr().err


def test_init_asks_before_it_takes_a_full_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    assert run(["init", "first"]) == 6
    assert "error E681" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    assert run(["init", "first", "--project"]) == 0
    assert (tmp_path / "registry/data/english_mini.yaml").is_file()


def test_init_leaves_the_housekeeping_of_a_repository_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("mine")
    assert run(["init", "first"]) == 0
    assert (tmp_path / ".gitignore").read_text() == "mine"
    assert "no_scm" not in (tmp_path / ".dvc" / "config").read_text()


@pytest.mark.parametrize("name", ["First", "a-b", "../x", "", "x" * 41])
def test_init_wants_a_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", name]) == 2
    assert "error E191" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_schema_prints_json_and_writes_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["schema", "--of", "data"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "mtlspec data card"
    assert run(["init", "first"]) == 0
    capsys.readouterr()
    assert run(["schema", "--docs", "spec.md"]) == 0
    assert (tmp_path / "spec.md").read_text().startswith("# The spec language\n")
    assert capsys.readouterr().out == ""


def test_the_reference_is_written_to_a_file_below_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    assert run(["init", "first"]) == 0
    capsys.readouterr()
    wrong = {"../new/spec.md": "E602", "..": "E602", ".": "E633", "specs": "E633", "specs/first.yaml/x.md": "E633"}
    for file, code in wrong.items():
        assert run(["schema", "--docs", file]) == 6
        message = capsys.readouterr().err
        assert f"error {code}: " in message
        assert message.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["project"]


def test_init_below_a_project_says_which_project_it_wrote_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "first"]) == 0
    assert "the project is" not in capsys.readouterr().out
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert run(["init", "second"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["wrote ../specs/second.yaml", f"the project is {tmp_path}: this folder lies in it"]


def test_a_new_project_points_to_nothing_that_it_does_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "first"]) == 0
    texts = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [text for text in texts if "docs/" in text]
    commands = ["schema --docs spec.md", "data sample english_mini"]
    for command in commands:
        assert any(f"`mtlspec {command}`" in text for text in texts)
        assert run(command.split()) == 0


def test_status_of_a_new_project_names_a_spec_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "registry").mkdir()
    (tmp_path / "specs").mkdir()
    assert run(["status"]) == 0
    assert capsys.readouterr().out == "no spec has been planned here yet; try `mtlspec init first`\n"
    assert run(["init", "mine"]) == 0
    capsys.readouterr()
    assert run(["status"]) == 0
    assert capsys.readouterr().out == "no spec has been planned here yet; try `mtlspec run mine`\n"
