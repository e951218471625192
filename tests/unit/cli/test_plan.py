"""`mtlspec plan`: what would run and why, and numbers only where something like it has run here."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.execute.lockfile import write_lock
from mtlspec.execute.materialise import Materialised, materialise
from mtlspec.io.project import Project
from mtlspec.io.write import write_bytes, write_json

FILES = {
    "registry/data/toy.yaml": """\
card: data
name: toy
licence: x
source: me
root: corpus
files:
  - reader: {type: columns, column: {tag: 1}}
    paths: {train: a, dev: b, test: c}
    layers: {pos: tag, more: tag}
""",
    "registry/data/made.yaml": """\
card: data
name: made
licence: x
source: me
generator: {type: english_mini, seed: 7}
files:
  - reader: conllu
    paths: {train: train.conllu, dev: dev.conllu, test: test.conllu}
    layers: {pos: upos, more: xpos}
""",
    "registry/encoders/large.yaml": """\
card: encoder
name: large
licence: x
source: {type: hub, id: some/large, revision: cd5ef92a9fb2f889e972770a36d4ed042daf221e}
""",
    "registry/encoders/own.yaml": "card: encoder\nname: own\nlicence: x\nsource: pretrain\n",
    "specs/small.yaml": """\
mtlspec: 1
name: small
data: toy
encoder: {card: large}
tasks:
  pos: {type: tagging, layer: pos}
  more: {type: tagging, layer: more}
train: {epochs: 2}
seeds: [1]
models:
  stl: {tasks: each, sharing: hard}
analyses:
  scores: {type: score_matrix, models: [stl]}
""",
}
OWN = ("--set", "data=made", "--set", "encoder.card=own")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "corpus").mkdir()
    for name in "abc":
        (tmp_path / "corpus" / name).write_text("x X\n")
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path.resolve())


def plan(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, dict[str, Any]]:
    """The last line for people, and all for scripts."""
    assert mtlspec(["plan", "small", *arguments]) == 0
    summary = capfd.readouterr().out.splitlines()[-1]
    assert mtlspec(["plan", "small", "--json", *arguments]) == 0
    return summary, json.loads(capfd.readouterr().out)


def finish(project: Project, name: str, seconds: float, megabytes: int) -> None:
    """What a stage leaves behind, as far as estimates look."""
    write_json(project.run("small").timing(name), {"seconds": seconds})
    write_bytes(project.run("small").artifact(name) / "file", bytes(megabytes * 10**6))


def test_nothing_is_made_up_for_an_encoder_that_never_ran_here(project: Project, capfd: Any) -> None:
    summary, found = plan(capfd)
    stages = len(found["stages"])
    assert summary.endswith(f"{stages} to run; no estimate: nothing like {stages} of them has run here yet")
    assert (found["minutes"], found["megabytes"]) == (None, None)
    assert {(stage["seconds"], stage["megabytes"]) for stage in found["stages"]} == {(None, None)}


def test_the_generated_corpus_with_an_encoder_learnt_from_it_has_numbers_at_once(project: Project, capfd: Any) -> None:
    summary, found = plan(capfd, *OWN)
    assert "to run; about " in summary and summary.endswith(" MB")
    assert found["minutes"] > 0 and found["megabytes"] > 0
    for change in (OWN[:2], OWN[2:]):
        assert "no estimate" in plan(capfd, *change)[0]


def test_a_stage_that_ran_speaks_for_its_kind(project: Project, capfd: Any) -> None:
    for name in ("data-toy", "import-large", "prepare-toy-large", "evaluate-stl-pos-s1", "analyse-scores", "report"):
        finish(project, name, 60, 1)
    finish(project, "train-stl-pos-s1", 600, 400)
    summary, found = plan(capfd)
    stages = {stage["stage"]: stage for stage in found["stages"]}
    assert (stages["train-stl-more-s1"]["seconds"], stages["train-stl-more-s1"]["megabytes"]) == (600, 400)
    assert "about " in summary and found["megabytes"] >= 800


def test_times_of_another_encoder_are_not_believed(project: Project, capfd: Any) -> None:
    for name in ("data-toy", "import-large", "prepare-toy-large", "train-stl-pos-s1"):
        finish(project, name, 60, 1)
    file = project.root / "specs" / "small.yaml"
    file.write_text(file.read_text().replace("card: large", "card: own"))
    stages = {stage["stage"]: stage for stage in plan(capfd)[1]["stages"]}
    assert stages["data-toy"]["seconds"] == 60
    assert stages["train-stl-pos-s1"]["seconds"] is stages["train-stl-pos-s1"]["megabytes"] is None


def lock(planned: Materialised) -> None:
    """dvc.lock as a finished run leaves it."""
    planned.write()
    entries = {}
    for stage in planned.plan.stages:
        places = planned.places
        deps = {
            f"stages/{stage.name}.json": places.params(stage.name),
            f"code/{stage.unit}.json": places.code(stage.unit),
        }
        digests = {
            name: hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() for name, path in deps.items()
        }
        deps_seen = [{"path": name, "md5": digest} for name, digest in digests.items()]
        entries[stage.name] = {"cmd": f"mtlspec stage {stage.name}", "deps": deps_seen, "outs": []}
    write_lock(planned.places.base / "dvc.lock", entries)


def test_in_a_fresh_clone_outputs_are_not_called_deleted(project: Project, capfd: Any) -> None:
    lock(materialise(project, project.root / "specs/small.yaml"))
    _, found = plan(capfd)
    assert {stage["state"] for stage in found["stages"]} == {"missing"}
    assert {tuple(stage["reasons"]) for stage in found["stages"]} == {
        ("not on this machine: comes from the cache, or is made again",)
    }
