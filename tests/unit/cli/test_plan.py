"""`mtlspec plan`: what would run and why, and numbers only where something like it has run here."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.execute.lockfile import read_lock, write_lock
from mtlspec.execute.materialise import Materialised, materialise
from mtlspec.execute.seed_power import detectable
from mtlspec.io.manifest import write_manifest
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


def finish(project: Project, name: str, seconds: float, megabytes: int, spec: str = "small") -> None:
    """What a stage leaves behind, as far as estimates look."""
    planned = materialise(project, project.root / f"specs/{spec}.yaml")
    places = planned.places
    write_bytes(places.params(name), planned.fixed[places.params(name)].encode())
    write_bytes(places.base / "dvc.yaml", b"stages: {}\n")
    write_json(places.timing(name), {"seconds": seconds})
    write_bytes(places.artifact(name) / "file", bytes(megabytes * 10**6))


def stages(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    return {stage["stage"]: stage for stage in plan(capfd, *arguments)[1]["stages"]}


def test_nothing_is_made_up_for_an_encoder_that_never_ran_here(project: Project, capfd: Any) -> None:
    summary, found = plan(capfd)
    stages = len(found["stages"])
    assert summary.endswith(f"{stages} to run; no estimate: nothing like {stages} of them has run here yet")
    assert (found["minutes"], found["megabytes"]) == (None, None)
    assert {(stage["seconds"], stage["megabytes"]) for stage in found["stages"]} == {(None, None)}


def test_the_generated_corpus_with_an_encoder_learnt_from_it_has_numbers_at_once(project: Project, capfd: Any) -> None:
    summary, found = plan(capfd, *OWN)
    assert "to run; about " in summary and summary.endswith(" MB (times of 9 as usual for the embedded corpus)")
    assert found["minutes"] > 0 and found["megabytes"] > 0
    for change in (OWN[:2], OWN[2:]):
        assert "no estimate" in plan(capfd, *change)[0]


def test_a_stage_that_ran_speaks_for_its_kind(project: Project, capfd: Any) -> None:
    for name in ("data-toy", "import-large", "prepare-toy-large", "evaluate-stl-pos-s1", "analyse-scores", "report"):
        finish(project, name, 60, 1)
    finish(project, "train-stl-pos-s1", 600, 400)
    summary, found = plan(capfd)
    by_name = {stage["stage"]: stage for stage in found["stages"]}
    sibling = by_name["train-stl-more-s1"]
    assert (sibling["seconds"], sibling["megabytes"], sibling["estimate"]) == (600, 400, "alike")
    assert by_name["train-stl-pos-s1"]["estimate"] == "own"
    assert "; about " in summary and found["megabytes"] >= 800
    assert summary.endswith(" (times of 2 like others that ran here)")


def test_a_stage_with_more_to_do_takes_longer_than_the_last_time(project: Project, capfd: Any) -> None:
    finish(project, "train-stl-pos-s1", 600, 400)
    found = stages(capfd, "--set", "train.epochs=3")
    assert found["train-stl-pos-s1"]["seconds"] == found["train-stl-more-s1"]["seconds"] == 900


def test_times_of_another_encoder_are_not_believed(project: Project, capfd: Any) -> None:
    for name in ("data-toy", "import-large", "prepare-toy-large", "train-stl-pos-s1"):
        finish(project, name, 60, 1)
    file = project.root / "specs" / "small.yaml"
    file.write_text(file.read_text().replace("card: large", "card: own"))
    found = stages(capfd)
    assert found["data-toy"]["seconds"] == 60
    assert found["train-stl-pos-s1"]["seconds"] is found["train-stl-pos-s1"]["megabytes"] is None


def test_other_specs_on_the_same_data_and_encoder_are_believed(project: Project, capfd: Any) -> None:
    other = FILES["specs/small.yaml"].replace("name: small", "name: other").replace("epochs: 2", "epochs: 4")
    (project.root / "specs/other.yaml").write_text(other)
    finish(project, "train-stl-pos-s1", 400, 1, spec="other")
    found = stages(capfd)["train-stl-more-s1"]
    assert (found["seconds"], found["estimate"]) == (200, "alike")


def made(stage: str) -> str:
    """The md5 of what a stage made, or what stands for it here."""
    return hashlib.md5(stage.encode(), usedforsecurity=False).hexdigest() + ".dir"


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
        deps_seen += [{"path": f"artifacts/{parent}", "md5": made(parent)} for parent in set(stage.inputs.values())]
        outs = [{"path": f"artifacts/{stage.name}", "md5": made(stage.name)}]
        entries[stage.name] = {"cmd": f"mtlspec stage {stage.name}", "deps": deps_seen, "outs": outs}
    write_lock(planned.places.base / "dvc.lock", entries)


def test_in_a_fresh_clone_outputs_are_not_called_deleted(project: Project, capfd: Any) -> None:
    lock(materialise(project, project.root / "specs/small.yaml"))
    _, found = plan(capfd)
    assert {stage["state"] for stage in found["stages"]} == {"missing"}
    assert {tuple(stage["reasons"]) for stage in found["stages"]} == {("neither on this machine nor in the cache",)}


def finished(project: Project) -> None:
    """A run whose artifacts are all here."""
    planned = materialise(project, project.root / "specs/small.yaml")
    lock(planned)
    for stage in planned.plan.stages:
        planned.places.artifact(stage.name).mkdir(parents=True)
        write_manifest(planned.places.artifact(stage.name))
        write_json(planned.places.stage_record(stage.name), {})


def state(capfd: pytest.CaptureFixture[str]) -> str:
    """How the run stands."""
    assert mtlspec(["status", "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)
    return str(row["state"])


def test_a_run_is_stale_only_if_something_changed(project: Project, capfd: Any) -> None:
    finished(project)
    assert state(capfd) == "current"
    file = project.run("small").base / "dvc.lock"
    entries = read_lock(file)
    assert entries is not None
    done = ("data-toy", "import-large", "prepare-toy-large", "train-stl-pos-s1")  # as Ctrl-C leaves it
    write_lock(file, {name: entries[name] for name in done})
    assert state(capfd) == "incomplete"
    spec = project.root / "specs/small.yaml"
    spec.write_text(spec.read_text().replace("epochs: 2", "epochs: 3"))
    assert state(capfd) == "stale"


@pytest.mark.parametrize(
    ("file", "old", "new", "stage", "why"),
    [
        ("specs/small.yaml", "epochs: 2", "epochs: 3", "train-stl-pos-s1", "option train.epochs: 2 → 3"),
        ("specs/small.yaml", "epochs: 2", "epochs: 3", "report", "option train.epochs: 2 → 3"),
        ("specs/small.yaml", "sharing: hard", "sharing: l0", "train-stl-pos-s1", "option sharing: hard → l0"),
        ("specs/small.yaml", "tasks: each", "tasks: [pos]", "analyse-scores", "the models that it reads changed"),
        ("specs/small.yaml", "tasks: each", "tasks: all", "train-stl-all-s1", "never run"),
        ("registry/data/toy.yaml", "train: a", "train: d", "data-toy", "data card toy: files changed"),
        ("registry/data/toy.yaml", "root: corpus", "root: other", "data-toy", "data card toy: root: corpus → other"),
        ("registry/encoders/large.yaml", "/large", "/other", "import-large",
         "encoder card large: id: some/large → some/other"),
        ("registry/encoders/large.yaml", "/large", "/other", "train-stl-pos-s1", "after import-large (and 1 more)"),
    ],
)  # fmt: skip
def test_why_is_one_phrase(project: Project, capfd: Any, file: str, old: str, new: str, stage: str, why: str) -> None:
    finished(project)
    assert plan(capfd)[0] == "small: 9 stages, 9 cached, 0 to run"
    path = project.root / file
    path.write_text(path.read_text().replace(old, new))
    assert stages(capfd)[stage]["reasons"][0] == why
    assert mtlspec(["plan", "small"]) == 0
    (row,) = (line for line in capfd.readouterr().out.splitlines() if line.startswith(f"{stage} "))
    assert row.rstrip().endswith(f"  {why}")


_COMPARED = ("--set", "models.mtl={tasks: all, sharing: hard}", "--set", "analyses.scores.models=[stl, mtl]")


@pytest.mark.parametrize(
    ("seeds", "said"),
    [
        (
            "[1]",
            "one seed shows no scatter: differences will not be tested; 5 seeds find those of 2.0 standard deviations",
        ),
        ("[1, 2, 3]", "3 seeds find differences of 3.1 standard deviations of a run, 3.7 among 2 comparisons; 5 seeds"),
    ],
)
def test_few_seeds_are_warned_of(project: Project, capfd: Any, seeds: str, said: str) -> None:
    line, found = plan(capfd, *_COMPARED, "--set", f"seeds={seeds}")
    assert line == found["warning"]
    assert line.startswith("seeds: scores compares ways of training") and said in line


def test_enough_seeds_and_questions_that_need_none_are_not(project: Project, capfd: Any) -> None:
    assert plan(capfd, *_COMPARED, "--set", "seeds=[1, 2, 3, 4, 5]")[1]["warning"] is None
    assert plan(capfd)[1]["warning"] is None  # nothing to compare with
    assert plan(capfd, *_COMPARED, "--set", "analyses.scores.unit=sentences")[1]["warning"] is None


def test_a_record_on_the_same_data_turns_deviations_into_points(project: Project, capfd: Any) -> None:
    asked = (*_COMPARED, "--set", "seeds=[1, 2, 3]")
    places = project.run("pilot")
    write_bytes(places.base / "dvc.yaml", b"")
    models = [
        {"tasks": ["pos"], "scores": {"test/mean": {"mean": 90.0, "std": std, "n": 3}}} for std in (0.5, 1.0, 4.0)
    ]
    resolved = {"data": "toy", "encoder": {"card": "large"}}
    write_json(places.record, {"format": 2, "spec": {"resolved": resolved}, "models": models})
    known = "(3.1 and 3.7 points at the scatter of single-task models in the record of pilot; test sentences add to it)"
    assert known in plan(capfd, *asked)[0]
    resolved["encoder"] = {"card": "own"}
    write_json(places.record, {"format": 2, "spec": {"resolved": resolved}, "models": models})
    assert "points" not in plan(capfd, *asked)[0]


def test_the_rule_is_the_power_of_a_t_test() -> None:
    assert detectable(3) == pytest.approx(3.0709, abs=1e-3)
    assert detectable(5) == pytest.approx(2.0244, abs=1e-3)
    assert detectable(3, 0.05 / 25) > 2 * detectable(3)
