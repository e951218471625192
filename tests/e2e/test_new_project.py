"""From an empty folder to a finished run, without a lock file, without git; tasks may bear any names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.study import DATA_CARD, ENCODER_CARD, SPEC, Study

# Torch or Python use them for something.
NAMES = ("train", "type", "keys", "items", "forward", "class", "encoder", "sharing", "tasks", "test", "mean", "all")
TASKS = "".join(f"  {name}: {{type: tagging, layer: {'ner' if i % 2 else 'xpos'}}}\n" for i, name in enumerate(NAMES))
NAMED = f"""\
{SPEC[: SPEC.index("tasks:")]}tasks:
{TASKS}{SPEC[SPEC.index("train: {epochs") : SPEC.index("models:")]}models:
  some: {{tasks: [train], sharing: hard}}
  mtl: {{tasks: all, sharing: hard}}
analyses:
  scores: {{type: score_matrix, baseline: some}}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study(tmp_path_factory.mktemp("new") / "my study ü")
    study.root.mkdir()
    study.mtlspec("init", "first")
    (study.root / "registry" / "data" / "mini.yaml").write_text(DATA_CARD)
    (study.root / "registry" / "encoders" / "micro.yaml").write_text(ENCODER_CARD)
    (study.root / "specs" / "small.yaml").write_text(NAMED)
    study.mtlspec("run", "small", "--no-publish")
    return study


def test_a_project_that_init_made_runs_to_its_end(study: Study) -> None:
    assert "no_scm = true" in (study.root / ".dvc" / "config").read_text()
    record = json.loads((study.run / "record.json").read_bytes())
    assert record["missing"] == [] and record["lock"] is None
    assert "everything holds" in study.mtlspec("verify", "small").stdout
    assert "up to date" in study.tool("dvc", "status").stdout


def test_tasks_of_any_name_are_trained_evaluated_and_reported(study: Study) -> None:
    record = json.loads((study.run / "record.json").read_bytes())
    (both,) = [model for model in record["models"] if model["name"] == "mtl-all"]
    assert {key.split("/")[1] for key in both["scores"] if key.count("/") == 2} == set(NAMES)
    page = (study.run / "artifacts" / "report" / "report.md").read_text()
    assert all(name in page for name in NAMES)


@pytest.mark.slow
def test_the_spec_that_init_writes_learns(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.mtlspec("init", "first")
    study.mtlspec("run", "first", "--set", "seeds=[1]", "--as", "once", "--no-publish")
    record = json.loads((tmp_path / "registry/runs/once/record.json").read_bytes())
    scores = {model["name"]: model["scores"] for model in record["models"]}
    assert all(scores[name]["test/pos/accuracy"]["mean"] > 90 for name in ("stl-pos", "mtl-all"))
    assert all(scores[name]["test/ner/f1"]["mean"] > 50 for name in ("stl-ner", "mtl-all"))
