"""Which pipeline names a spec's results: the root's, or that of specs on data from outside the project."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mtlspec.execute.materialise import materialise, remove_run
from mtlspec.execute.pipelines import write_results_files
from mtlspec.io.project import Project
from mtlspec.plan.dvc import hiding_text, is_outside, results_text
from tests.e2e.study import ENCODER_CARD, SPEC

ROOT = Path(__file__).parents[3]
OUTSIDE = ["ewt5_minilm", "glue_minilm", "glue_minilm_ca_mtl", "tagging11"]  # shipped runs on data that a clone lacks
FILES = "files: [{reader: conll2012, paths: {train: a, dev: b, test: c}, layers: {xpos: pos, ner: ner}}]"


@pytest.mark.parametrize(
    ("root", "outside"),
    [
        (None, False),
        ("data/ewt", False),
        ("./data", False),
        ("$MTLSPEC_DATA/ewt5", True),
        ("${MTLSPEC_DATA}", True),
        ("/data/ewt", True),
        ("../data", True),
        ("data/../../elsewhere", True),
    ],
)
def test_data_are_outside_if_their_root_leaves_the_project(root: str | None, outside: bool) -> None:
    assert is_outside(root) == outside


def test_a_spec_may_be_called_like_a_word_of_yaml() -> None:
    text = results_text(["null", "true", "a"], None, False)
    assert yaml.safe_load(text)["stages"]["results"]["foreach"] == ["a", "null", "true"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for folder in ("specs", "registry/data", "registry/encoders"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "requirements.lock").write_text("torch==2.13.0\n")
    (tmp_path / "registry/encoders/micro.yaml").write_text(ENCODER_CARD)
    for name, root in (("here", "data"), ("there", "$SOMEWHERE/data")):
        card = f"card: data\nname: {name}\nlicence: none\nsource: none\nroot: {root}\n{FILES}\n"
        (tmp_path / f"registry/data/{name}.yaml").write_text(card)
        spec = SPEC.replace("name: small", f"name: on_{name}").replace("data: mini", f"data: {name}")
        (tmp_path / f"specs/on_{name}.yaml").write_text(spec)
    return Project(tmp_path)


def _stages(path: Path) -> dict[str, list[str]]:
    return {name: stage["foreach"] for name, stage in yaml.safe_load(path.read_text())["stages"].items()}


def test_each_spec_is_named_once_and_what_a_clone_cannot_compute_stands_apart(project: Project) -> None:
    for name in ("on_there", "on_here"):
        materialise(project, project.root / f"specs/{name}.yaml").write()
    assert _stages(project.root / "dvc.yaml") == {"results": ["on_here"]}
    assert _stages(project.root / "registry/runs/dvc.yaml") == {"results": ["on_there"]}
    (apart,) = yaml.safe_load((project.root / "registry/runs/dvc.yaml").read_text())["stages"].values()
    assert apart["do"]["deps"] == [
        "${item}/artifacts/report",
        "${item}/plan.json",
        "${item}/records",
        "../../requirements.lock",
    ]
    told = materialise(project, project.root / "specs/on_there.yaml", ["seeds=[4]"]).plan.stage("report").params
    assert told["reproduce"] == {
        "run": "mtlspec run specs/on_there.yaml '--set=seeds=[4]'",
        "dvc": "dvc repro registry/runs/dvc.yaml:results@on_there-seeds_4",
    }


def test_a_spec_that_brings_its_data_into_the_project_moves(project: Project) -> None:
    materialise(project, project.root / "specs/on_there.yaml").write()
    assert yaml.safe_load((project.root / "dvc.yaml").read_text()) == {"stages": {}}
    (project.root / "registry/runs/dvc.lock").write_text("schema: '2.0'\n")
    spec = project.root / "specs/on_there.yaml"
    spec.write_text(spec.read_text().replace("data: there", "data: {extends: there, root: data}"))
    materialise(project, spec).write()
    assert _stages(project.root / "dvc.yaml") == {"results": ["on_there"]}
    assert not list((project.root / "registry/runs").glob("dvc.*"))
    assert not list(project.root.rglob(".dvcignore"))


def test_broken_stages_of_another_spec_are_that_specs_problem(project: Project) -> None:
    for name in ("on_there", "on_here"):
        materialise(project, project.root / f"specs/{name}.yaml").write()
    (project.root / "registry/runs/on_there/stages/data-there.json").write_text("{")
    write_results_files(project)
    assert _stages(project.root / "dvc.yaml") == {"results": ["on_here", "on_there"]}


def test_the_shipped_root_pipeline_needs_nothing_that_a_clone_lacks() -> None:
    assert _stages(ROOT / "dvc.yaml") == {
        "results": ["ca_mtl", "functional_specialization", "sequence_tagging", "stem_cell"]
    }
    assert _stages(ROOT / "registry/runs/dvc.yaml") == {"results": OUTSIDE}


def _seen_by_dvc(project: Project) -> list[str]:
    from dvc.repo import Repo

    with Repo(str(project.root)) as repo:
        return sorted({str(Path(stage.path).relative_to(project.root)) for stage in repo.index.stages})


def test_dvc_sees_pipelines_on_outside_data_where_somebody_asked_for_them(project: Project) -> None:
    (project.root / ".dvc").mkdir()
    (project.root / ".dvc/config").write_text("[core]\n    no_scm = true\n")
    for name in ("on_there", "on_here"):
        materialise(project, project.root / f"specs/{name}.yaml").write()
    shown = project.root / "registry/runs/.dvcignore"
    local = ["dvc.yaml", "registry/runs/on_here/dvc.yaml"]
    assert _seen_by_dvc(project) == [
        *local[:1],
        "registry/runs/dvc.yaml",
        *local[1:],
        "registry/runs/on_there/dvc.yaml",
    ]
    shown.unlink()  # as in a fresh clone: git does not keep it
    assert _seen_by_dvc(project) == local
    materialise(project, project.root / "specs/on_here.yaml").write()
    assert _seen_by_dvc(project) == local, "another spec was asked for"
    remove_run(project, project.run("on_there"))
    assert not list(project.root.rglob(".dvcignore"))


def test_a_dvcignore_that_somebody_wrote_stays(project: Project) -> None:
    own = project.root / "registry/.dvcignore"
    own.write_text("/notes\n")
    materialise(project, project.root / "specs/on_there.yaml").write()
    remove_run(project, project.run("on_there"))
    assert own.read_text() == "/notes\n"


def test_git_keeps_what_hides_and_not_what_shows() -> None:
    assert (ROOT / "registry/.dvcignore").read_text() == hiding_text(OUTSIDE)
    for ignored in (ROOT / ".gitignore", ROOT / "mtlspec/cli/starter/gitignore"):
        assert "/registry/runs/.dvcignore" in ignored.read_text().splitlines()
