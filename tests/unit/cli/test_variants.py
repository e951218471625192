"""Overrides make a variant: beside the run of its spec, never in place of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.io.project import Project
from tests.e2e.study import DATA_CARD, ENCODER_CARD, SPEC

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    files = {"registry/data/mini.yaml": DATA_CARD, "registry/encoders/micro.yaml": ENCODER_CARD}
    for name, text in {**files, "specs/small.yaml": SPEC, "specs/other.yaml": SPEC.replace("small", "other")}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert mtlspec(["plan", "small", "--write"]) == 0
    return Project(tmp_path)


def planned(capsys: Capture, *arguments: str) -> str:
    capsys.readouterr()
    assert mtlspec(["plan", *arguments, "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["spec"])


def refused(capsys: Capture, *arguments: str) -> str:
    capsys.readouterr()
    assert mtlspec(list(arguments)) == 2
    return capsys.readouterr().err.strip()


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_overrides_leave_the_run_of_the_spec_as_it_is(project: Project, capsys: Capture) -> None:
    before = everything(project.run("small").base)
    assert mtlspec(["plan", "small", "--set", "seeds=[2]", "--write"]) == 0
    assert mtlspec(["plan", "small", "--set", "seeds=[3]", "--as", "third", "--write"]) == 0
    assert everything(project.run("small").base) == before
    pipeline = (project.root / "dvc.yaml").read_text()
    assert [line.strip() for line in pipeline.splitlines() if line.startswith('    - "')] == [
        '- "small"', '- "small-seeds_2"', '- "third"'
    ]  # fmt: skip
    told = json.loads(project.run("third").params("plan").read_bytes())
    assert told == {"spec": "specs/small.yaml", "overrides": ["seeds=[3]", "name=third"]}
    report = json.loads(project.run("third").params("report").read_bytes())["params"]
    assert report["variant"] == {"of": "small", "file": "specs/small.yaml", "overrides": told["overrides"]}
    assert report["reproduce"] == {
        "run": "mtlspec run specs/small.yaml '--set=seeds=[3]' --as=third",
        "dvc": "dvc repro results@third",
    }
    own = json.loads(project.run("small").params("report").read_bytes())["params"]
    assert "variant" not in own


def test_trainings_of_a_variant_are_those_of_its_spec_where_nothing_else_is_said(project: Project) -> None:
    assert mtlspec(["plan", "small", "--set", "analyses={}", "--write"]) == 0
    variant = project.run("small-analyses_none").base
    for stage in ("data-mini", "train-mtl-all-s1"):
        assert (variant / f"stages/{stage}.json").read_bytes() == project.run("small").params(stage).read_bytes()


def test_the_name_of_a_variant_stands_for_its_spec_and_overrides(project: Project, capsys: Capture) -> None:
    mtlspec(["plan", "small", "--set", "seeds=[2]", "--write"])
    assert planned(capsys, "small-seeds_2") == "small-seeds_2"
    assert planned(capsys, "small-seeds_2", "--set", "train.epochs=4") == "small-seeds_2-epochs_4"
    assert planned(capsys, "small-seeds_2", "--as", "mine") == "mine"
    assert mtlspec(["check", "small-seeds_2"]) == 0
    assert "over 1 seed" in capsys.readouterr().out
    assert "E190: there is no spec 'small-seeds_1'; did you mean 'small-seeds_2'?" in refused(
        capsys, "plan", "small-seeds_1"
    )


def test_status_and_list_compare_a_spec_with_its_file_and_a_variant_with_its_overrides(
    project: Project, capsys: Capture
) -> None:
    mtlspec(["plan", "small", "--set", "seeds=[2]", "--write"])
    # what an older mtlspec left when overrides still replaced the run of the spec
    project.run("small").params("plan").write_text('{"overrides": ["seeds=[5]"], "spec": "specs/small.yaml"}')
    capsys.readouterr()
    assert mtlspec(["status", "--json"]) == 0
    small, variant = json.loads(capsys.readouterr().out)
    assert (small["spec"], small["state"], small["stages"], small["cached"]) == ("small", "incomplete", 11, 0)
    assert (variant["spec"], variant["overrides"]) == ("small-seeds_2", ["seeds=[2]"])
    assert mtlspec(["status"]) == 0
    assert "small-seeds_2 specs/small.yaml seeds=[2] incomplete 0 of 11" in " ".join(capsys.readouterr().out.split())
    file = project.root / "specs/small.yaml"
    file.write_text(SPEC.replace("name: small", "name: big"))
    assert mtlspec(["status", "--json"]) == 0
    assert [row["error"] for row in json.loads(capsys.readouterr().out)] == [
        f"specs/small.yaml: error E823: the spec is called '{now}' now; "
        f"`mtlspec registry remove {name}` if it is not wanted any more"
        for name, now in (("small", "big-seeds_5"), ("small-seeds_2", "big-seeds_2"))
    ]


def test_a_name_that_is_taken_is_refused_and_nothing_is_written(project: Project, capsys: Capture) -> None:
    mtlspec(["plan", "small", "--set", "seeds=[2]", "--as", "quick", "--write"])
    before = everything(project.root)
    assert refused(capsys, "run", "small", "--set", "seeds=[3]", "--as", "quick") == (
        "specs/small.yaml: error E824: the name 'quick' is that of another variant, "
        "`mtlspec run specs/small.yaml '--set=seeds=[2]' --as=quick`; "
        "choose another name with `--as`, or `mtlspec registry remove quick`"
    )
    assert "E820: 'small' is what specs/small.yaml itself is called" in refused(
        capsys, "run", "small", "--set", "seeds=[3]", "--as", "small"
    )
    assert "E821: 'other' is the name of another spec" in refused(capsys, "run", "small", "--as", "other")
    assert "E189: the name 'quick' is that of specs/small.yaml" in refused(capsys, "run", "other", "--as", "quick")
    assert "--set name=Not so" in refused(capsys, "run", "small", "--as", "Not so")
    assert everything(project.root) == before
    assert planned(capsys, "small", "--set", "seeds=[ 2 ]", "--as", "quick") == "quick"
    assert mtlspec(["registry", "remove", "quick", "--yes"]) == 0
    assert planned(capsys, "small", "--set", "seeds=[3]", "--as", "quick") == "quick"
