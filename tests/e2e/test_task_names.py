"""A task may bear any name, also one that torch or Python uses for something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.study import SPEC, Study

pytestmark = pytest.mark.xdist_group("e2e")
NAMES = ("train", "type", "keys", "items", "forward", "class", "encoder", "sharing", "tasks", "test", "mean", "all")


def test_tasks_of_any_name_are_trained_evaluated_and_reported(tmp_path: Path) -> None:
    tasks = "".join(
        f"  {name}: {{type: tagging, layer: {'ner' if i % 2 else 'xpos'}}}\n" for i, name in enumerate(NAMES)
    )
    head, tail = SPEC[: SPEC.index("tasks:")], SPEC[SPEC.index("train: {epochs") : SPEC.index("models:")]
    models = "models:\n  some: {tasks: [train], sharing: hard}\n  mtl: {tasks: all, sharing: hard}\n"
    analyses = "analyses:\n  scores: {type: score_matrix, baseline: some}\n"
    study = Study.create(tmp_path / "study", f"{head}tasks:\n{tasks}{tail}{models}{analyses}")
    study.mtlspec("run", "small", "--no-publish")
    record = json.loads((study.run / "record.json").read_bytes())
    (both,) = [model for model in record["models"] if model["name"] == "mtl-all"]
    assert {key.split("/")[1] for key in both["scores"] if key.count("/") == 2} == set(NAMES)
    page = (study.run / "artifacts" / "report" / "report.md").read_text()
    assert all(name in page for name in NAMES)
    study.mtlspec("verify", "small")
