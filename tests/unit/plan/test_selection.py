"""Tasks that are chosen while the study runs, and models that start from others: what their stages read."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.plan.build import build_plan
from mtlspec.plan.types import Plan
from mtlspec.spec.load import load_spec
from tests.unit.spec.small_project import SPEC, make_project

MORE = """\
  pair: {tasks: pairs, sharing: hard}
  oracle: {tasks: oracle, sharing: hard}
  few: {tasks: [up], sharing: hard, start: {group: mtl, take: encoder, seed: 2}}
analyses:"""


def _plan(root: Path, text: str, *overrides: str) -> Plan:
    project = make_project(root)
    path = root / "specs" / "study.yaml"
    path.write_text(text)
    return build_plan(load_spec(path, project, overrides))


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    text = SPEC.replace("tasks: all", "tasks: [pos, lem]").replace("analyses:", MORE)
    return _plan(tmp_path, text, "tasks.up={type: tagging, layer: upos}")


def test_one_choice_serves_all_seeds_and_reads_all_seeds(plan: Plan) -> None:
    select = [stage for stage in plan.stages if stage.kind == "select"]
    assert [stage.name for stage in select] == ["select-oracle-pos", "select-oracle-lem", "select-oracle-up"]
    models = [f"{name}-s{seed}" for name in ("stl-lem", "pair-pos-lem", "pair-lem-up") for seed in (1, 2)]
    assert set(select[1].inputs.values()) == {f"evaluate-{model}" for model in models}
    assert [row["evaluate"] for row in select[1].params["models"]] == list(select[1].inputs)
    train = [plan.stage(f"train-oracle-lem-s{seed}") for seed in (1, 2)]
    assert [stage.inputs["select"] for stage in train] == ["select-oracle-lem"] * 2
    names = [stage.name for stage in plan.stages]
    assert names.index("select-oracle-lem") < names.index("train-oracle-lem-s1")


def test_a_model_depends_on_every_task_that_it_may_come_to_learn(plan: Plan) -> None:
    units = {unit.name: unit.files for unit in plan.units}
    for kind in ("train", "evaluate"):  # only `lem` has a CRF, and `pos` is what is known
        assert "model/taggers/crf.py" in units[plan.stage(f"{kind}-oracle-pos-s1").unit]
    assert set(plan.stage("train-oracle-pos-s1").params["tasks"]) == {"pos", "lem", "up"}
    select = units[plan.stage("select-oracle-pos").unit]
    assert "spec/task_sets/oracle.py" in select and not any(file.startswith("model/") for file in select)
    assert "spec/task_sets/oracle.py" not in units[plan.stage("train-oracle-pos-s1").unit]
    rows = [row for row in plan.stage("report").params["models"] if row["group"] == "oracle"]
    assert [(row["tasks"], row["select"]) for row in rows[::2]] == [
        (["pos"], "select-oracle-pos"),
        (["lem"], "select-oracle-lem"),
        (["up"], "select-oracle-up"),
    ]


def test_another_task_starts_from_the_encoder_of_the_only_model(plan: Plan) -> None:
    for seed in (1, 2):
        stage = plan.stage(f"train-few-up-s{seed}")
        assert stage.inputs["start"] == "train-mtl-pos-lem-s2"
        assert stage.params["take"] == "encoder"


def test_a_model_to_start_from_is_named_by_its_tasks(tmp_path: Path) -> None:
    few = "  few: {tasks: all, sharing: hard, start: {group: stl, take: encoder, tasks: [lem]}}\nanalyses:"
    plan = _plan(tmp_path, SPEC.replace("analyses:", few))
    assert plan.stage("train-few-all-s1").inputs["start"] == "train-stl-lem-s1"
    assert "take" not in plan.stage("train-stl-lem-s1").params
