"""From an empty folder to a finished run, without a lock file, without git."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mtlspec
from tests.e2e.study import DATA_CARD, ENCODER_CARD, SPEC, Study

HERE = {"PYTHONPATH": str(Path(mtlspec.__file__).parents[1])}
pytestmark = pytest.mark.xdist_group("e2e-new")


def test_a_project_that_init_made_runs_to_its_end(tmp_path: Path) -> None:
    study = Study(tmp_path / "my study ü")
    study.root.mkdir()
    study.mtlspec("init", "first", **HERE)
    assert "no_scm = true" in (study.root / ".dvc" / "config").read_text()
    (study.root / "registry" / "data" / "mini.yaml").write_text(DATA_CARD)
    (study.root / "registry" / "encoders" / "micro.yaml").write_text(ENCODER_CARD)
    (study.root / "specs" / "small.yaml").write_text(SPEC)
    study.mtlspec("run", "small", "--no-publish", **HERE)
    record = json.loads((study.run / "record.json").read_bytes())
    assert record["missing"] == [] and record["lock"] is None
    assert "everything holds" in study.mtlspec("verify", "small", **HERE).stdout
    assert "up to date" in study.tool("dvc", "status").stdout


@pytest.mark.slow
def test_the_spec_that_init_writes_learns(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.mtlspec("init", "first", **HERE)
    study.mtlspec("run", "first", "--set", "seeds=[1]", "--as", "once", "--no-publish", **HERE)
    record = json.loads((tmp_path / "registry/runs/once/record.json").read_bytes())
    scores = {model["name"]: model["scores"] for model in record["models"]}
    assert all(scores[name]["test/pos/accuracy"]["mean"] > 90 for name in ("stl-pos", "mtl-all"))
    assert all(scores[name]["test/ner/f1"]["mean"] > 50 for name in ("stl-ner", "mtl-all"))
