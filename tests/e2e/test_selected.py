"""A task set that is decided inside the DAG: the choice is an artifact, and only a changed choice trains again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from mtlspec.execute.verify import rerun
from mtlspec.io.project import Project
from mtlspec.plan.types import Plan
from tests.e2e.study import SPEC, Study

STRONG = "{epochs: 3, lr: {encoder: 1e-3, decoder: 1e-2}}"
WEAK = "{epochs: 3, lr: {encoder: 1e-9, decoder: 1e-9}}"
# `oracle` takes what is better at all; `never` what is better by a thousand million standard deviations.
MODELS = f"""\
models:
  stl: {{tasks: each, sharing: hard, train: {{epochs: 2, lr: {{encoder: 1e-4, decoder: 3e-3}}}}}}
  pair: {{tasks: pairs, sharing: hard, train: {WEAK}}}
  oracle: {{tasks: {{type: oracle, target: pos, k: 0}}, sharing: hard, train: {STRONG}}}
  never: {{tasks: {{type: oracle, target: pos, k: 1e9}}, sharing: hard, train: {STRONG}}}
"""
ALONE = SPEC[: SPEC.index("models:")].replace("seeds: [1]", "seeds: [1, 2]") + MODELS
HELPED = ALONE.replace(f"hard, train: {WEAK}", f"hard, train: {STRONG}")
PAIR = {f"{kind}-pair-pos-ner-s{seed}" for kind in ("train", "evaluate") for seed in (1, 2)}
SELECT = {"select-oracle-pos", "select-never-pos"}
ORACLE = {f"{kind}-oracle-pos-s{seed}" for kind in ("train", "evaluate") for seed in (1, 2)}


@pytest.fixture(scope="module")
def selecting(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study in which no task helps another, run once."""
    study = Study.create(tmp_path_factory.mktemp("selecting") / "study", ALONE)
    study.mtlspec("run", "small", "--no-publish")
    return study


@pytest.fixture
def study(selecting: Study, tmp_path: Path) -> Study:
    return selecting.copy(tmp_path / "study")


def _chosen(study: Study, stage: str) -> list[str]:
    found = json.loads((study.run / "artifacts" / stage / "selection.json").read_bytes())
    assert list(found) == ["tasks"]
    tasks: list[str] = found["tasks"]
    return tasks


def _learnt(study: Study, train: str) -> list[str]:
    about = json.loads((study.run / "artifacts" / train / "model.json").read_bytes())
    return [task["name"] for task in about["tasks"]]


def _trained(study: Study, train: str) -> bool:
    """Whether the stage itself took its updates."""
    return "train_seconds" in json.loads((study.run / "timings" / f"{train}.json").read_bytes())


def test_the_choice_is_an_artifact_and_its_grounds_are_in_the_record(study: Study) -> None:
    assert _chosen(study, "select-oracle-pos") == ["pos"]
    assert _learnt(study, "train-oracle-pos-s1") == ["pos"]
    facts = json.loads((study.run / "records" / "select-oracle-pos.json").read_bytes())["facts"]
    (grounds,) = facts["candidates"].values()
    assert grounds["chosen"] is False and grounds["paired"] <= grounds["alone"]
    page = (study.run / "artifacts" / "report" / "report.md").read_text()
    assert "oracle: pos (none selected)" in page and "oracle: pos is learnt alone" in page
    record = json.loads((study.run / "record.json").read_bytes())
    assert "oracle: pos (none selected)" in [model["label"] for model in record["models"]]
    study.mtlspec("verify", "small")
    assert study.outcomes(study.mtlspec("run", "small", "--no-publish")) == {}


def test_a_changed_evaluation_reruns_the_choice_and_what_it_changes(study: Study) -> None:
    (study.root / "specs" / "small.yaml").write_text(HELPED)
    plan = study.plan()
    assert plan["train-never-pos-s1"]["reasons"] == ["after select-never-pos, if it chooses other tasks"]
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    ran = {name for name, word in outcomes.items() if word == "done"}
    assert ran == {"plan", *PAIR, *SELECT, *ORACLE, "report", "results@small"}
    assert _chosen(study, "select-oracle-pos") == ["pos", "ner"]
    assert _chosen(study, "select-never-pos") == ["pos"]
    assert _learnt(study, "train-never-pos-s1") == ["pos"]
    weights = [
        (study.run / "artifacts" / train / "model.safetensors").read_bytes()
        for train in ("train-oracle-pos-s1", "train-pair-pos-ner-s1")
    ]
    page = (study.run / "artifacts" / "report" / "report.md").read_text()
    assert "oracle: pos + ner (selected)" in page and "never: pos (none selected)" in page
    assert weights[0] == weights[1]  # the very model of these tasks, had they been known before
    assert _trained(study, "train-pair-pos-ner-s1") and not _trained(study, "train-oracle-pos-s1")  # taken over
    assert _trained(study, "train-never-pos-s1")  # single-task models are trained otherwise here
    places = Project(study.root).run("small")
    again = rerun(Project(study.root), places, [Plan.read(places.plan).stage("train-oracle-pos-s1")], lambda _: None)
    assert [found.verdict for found in again] == ["identical"]  # a verification trains it
    shutil.rmtree(study.run / "artifacts")
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert set(outcomes.values()) == {"restored"}


@pytest.mark.slow  # every stage of plain DVC starts a Python of its own
def test_plain_dvc_reruns_the_same(study: Study) -> None:
    (study.root / "specs" / "small.yaml").write_text(HELPED)
    study.mtlspec("plan", "small", "--write")
    pipeline = "registry/runs/small/dvc.yaml"
    repro = study.tool("dvc", "repro", *(f"{pipeline}:evaluate-{group}-pos-s1" for group in ("oracle", "never")))
    ran = {line.split("'")[1].rpartition(":")[2] for line in repro.stdout.splitlines() if "Running stage" in line}
    first_seed = {name for name in ORACLE if name.endswith("s1")}
    assert ran - {"plan"} == {*PAIR, *SELECT, *first_seed}
    assert _learnt(study, "train-oracle-pos-s1") == ["ner", "pos"]
