"""From a spec to stages: what each one reads, and which sources its code fingerprint covers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec.errors import IntegrityError
from mtlspec.plan.build import build_plan
from mtlspec.plan.rows import restored_rows
from mtlspec.plan.types import Plan
from mtlspec.results.variants import baseline_for, variants
from mtlspec.spec.load import load_spec
from mtlspec.spec.packs import Pack
from tests.unit.spec.small_project import SPEC, make_project


def _plan(root: Path, text: str) -> Plan:
    project = make_project(root)
    path = root / "specs" / "study.yaml"
    path.write_text(text)
    return build_plan(load_spec(path, project))


@pytest.fixture
def started(tmp_path: Path) -> Plan:
    again = "  again: {tasks: each, sharing: hard, start: stl, sweep: {train.lr.encoder: [1e-5, 1e-4]}}\nanalyses:"
    return _plan(tmp_path, SPEC.replace("analyses:", again))


def test_a_group_starts_from_the_model_of_the_same_tasks_and_seed(started: Plan) -> None:
    stages = {stage.name: stage for stage in started.stages if stage.kind == "train"}
    found = {name: stage.inputs["start"] for name, stage in stages.items() if "start" in stage.inputs}
    assert len(found) == 8  # two tasks, two rates, two seeds
    assert found["train-again-pos-lr_encoder_1e-05-s2"] == "train-stl-pos-s2"
    assert found["train-again-lem-lr_encoder_0_0001-s1"] == "train-stl-lem-s1"
    names = [stage.name for stage in started.stages]
    assert all(names.index(start) < names.index(name) for name, start in found.items())


def test_a_student_waits_for_its_teachers_and_runs_their_code(tmp_path: Path) -> None:
    """A task's teacher is the model of the same tasks; where there is none, the one of this task alone."""
    distil = "train: {distil: {teacher: %s, prediction: 0, labels: 1, hidden: 1%s}}"
    more = f"  whole: {{tasks: all, sharing: hard, {distil % ('iat', ', seed: 2')}}}\n"
    more += f"  apart: {{tasks: all, sharing: hard, {distil % ('stl', '')}}}\nanalyses:"
    iat = "  iat: {tasks: all, sharing: {type: iat}}\n"
    plan = _plan(tmp_path, SPEC.replace("  mtl: {", f"{iat}  mtl: {{").replace("analyses:", more))
    teachers = {
        stage.name: {role: name for role, name in stage.inputs.items() if role.startswith("teacher-")}
        for stage in plan.stages
        if stage.kind == "train"
    }
    assert teachers["train-whole-all-s1"] == {"teacher-pos": "train-iat-all-s2", "teacher-lem": "train-iat-all-s2"}
    assert teachers["train-apart-all-s2"] == {"teacher-pos": "train-stl-pos-s2", "teacher-lem": "train-stl-lem-s2"}
    assert teachers["train-mtl-all-s1"] == {}
    files = {unit.name: unit.files for unit in plan.units}
    assert "sharing/iat.py" in files[plan.stage("train-whole-all-s1").unit]
    assert "sharing/iat.py" not in files[plan.stage("train-apart-all-s1").unit]


def test_rows_tell_all_trainings_that_a_model_descends_from(tmp_path: Path) -> None:
    one = "  one: {tasks: each, sharing: hard, start: {group: stl, seed: 1}}\n"
    more = f"{one}  two: {{tasks: each, sharing: hard, start: one}}\nanalyses:"
    plan = _plan(tmp_path, SPEC.replace("analyses:", more))
    rows = {row["train"]: row for row in plan.stage("report").params["models"]}
    assert rows["train-two-pos-s2"]["starts"] == ["train-one-pos-s2", "train-stl-pos-s1"]
    assert rows["train-one-pos-s2"]["starts"] == ["train-stl-pos-s1"] and "starts" not in rows["train-stl-pos-s2"]


def test_rows_tell_gates_and_analyses_get_the_trainings(tmp_path: Path) -> None:
    """Static pruning and its control, which goes on from the same models without gates."""
    more = "  sp: {tasks: each, sharing: {type: l0, mode: static, lambda: 0.1}, start: stl}\n"
    more += "  ft: {tasks: each, sharing: hard, start: stl}\nanalyses:\n  pruned: {type: pruning_table}"
    plan = _plan(tmp_path, SPEC.replace("analyses:", more))
    rows = restored_rows(plan.stage("report").params["models"])
    assert {row.group for row in rows if row.gated} == {"sp"}
    assert {row.group for row in rows if row.starts} == {"sp", "ft"}
    assert [row.stored() for row in rows] == plan.stage("report").params["models"]
    for name, groups in (("pruned", {"stl", "mtl", "sp", "ft"}), ("scores", {"stl", "mtl"})):
        trained = {row.train for row in rows if row.group in groups}
        assert {role for role in plan.stage(f"analyse-{name}").inputs if role.startswith("train-")} == trained
    models = {(one.group, one.tasks): one for one in variants(rows)}
    assert baseline_for(models["sp", ("pos",)], "pos", "stl", list(models.values())) is models["ft", ("pos",)]


def test_measurements_are_stages_of_their_own(tmp_path: Path) -> None:
    plan = _plan(tmp_path, SPEC + "  heads: {type: attention_probe, models: [stl], dep: dep}\n")
    measures = {stage.name: stage for stage in plan.stages if stage.kind == "measure"}
    models = [f"stl-{task}-s{seed}" for task in ("pos", "lem") for seed in (1, 2)]
    assert list(measures) == ["measure-heads-encoder", *(f"measure-heads-{model}" for model in models)]
    first = measures["measure-heads-stl-pos-s1"]
    assert first.inputs["train"] == "train-stl-pos-s1"
    assert "train" not in measures["measure-heads-encoder"].inputs
    analysis = plan.stage("analyse-heads")
    assert set(analysis.inputs.values()) == {*measures, *(f"train-{model}" for model in models)}
    assert [row["measure"] for row in analysis.params["models"]] == [f"measure-heads-{model}" for model in models]


def test_a_measurement_depends_on_the_code_of_the_model_it_loads(tmp_path: Path) -> None:
    plan = _plan(tmp_path, SPEC + "  heads: {type: attention_probe, models: [stl], dep: dep}\n")
    units = {unit.name: unit.files for unit in plan.units}
    files = {name: units[plan.stage(f"measure-heads-{name}").unit] for name in ("stl-pos-s1", "stl-lem-s1")}
    assert "model/taggers/crf.py" in files["stl-lem-s1"]
    assert "model/taggers/crf.py" not in files["stl-pos-s1"]
    assert all("analyses/attention_probe.py" in found for found in files.values())


def test_the_report_s_stage_knows_the_order_of_a_paper_s_figures(tmp_path: Path) -> None:
    plan = _plan(tmp_path, SPEC + "compare_to: stem_cell/bert\n")
    stored = Plan.model_validate_json(plan.text(), strict=False).stage("report").params
    pack = Pack.restored(stored["published"])  # stored mappings have sorted keys
    assert list(pack.metrics) == ["pos", "ner", "dep", "con", "srl"]
    assert list(pack.scores) == ["stl", "mtl", "stl_sp", "stl_dp", "mtl_dp"]
    assert list(pack.pairs)[:2] == ["pos+ner", "pos+dep"]


def test_the_report_s_stage_knows_the_order_of_analyses(tmp_path: Path) -> None:
    text = SPEC + "  zero: {type: score_matrix}\n  also: {type: score_matrix}\n"
    stored = Plan.model_validate_json(_plan(tmp_path, text).text(), strict=False).stage("report").params
    assert [name for name, _ in stored["analyses"]][-2:] == ["zero", "also"]


def test_rows_of_models_survive_that_they_are_stored(tmp_path: Path) -> None:
    sweep = "  sw: {tasks: each, sharing: hard, sweep: {sharing: [hard, {type: l0, lambda: 0.1}]}}\nanalyses:"
    plan = _plan(tmp_path, SPEC.replace("analyses:", sweep))
    stored = json.loads(plan.text())
    params = next(stage for stage in stored["stages"] if stage["name"] == "report")["params"]
    rows = restored_rows(params["models"])
    assert [row.stored() for row in rows] == params["models"]
    last = rows[-1]
    assert (last.group, last.seed, last.measure) == ("sw", 2, None)
    assert last.train == f"train-{last.name}" and last.slug == last.name.removesuffix("-s2")
    assert {row.evaluate for row in rows} == {stage.name for stage in plan.stages if stage.kind == "evaluate"}
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("row", [{"stage": "evaluate-a-s1", "train": "train-a-s1"}, {}, {"tasks": 3, "sweep": []}])
def test_a_plan_of_another_form_is_refused_in_one_line(row: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=r"E517.*outgrown: an older mtlspec wrote it; `mtlspec run`"):
        restored_rows([row])


SECOND = "data: {pos: corpus, lem: {extends: corpus, name: second, root: %s}}"
TWO_CORPORA = SPEC.replace("data: corpus", SECOND).replace("card: small,", "card: small, data: pos,")


def test_a_model_depends_on_the_corpora_of_its_own_tasks(tmp_path: Path) -> None:
    plan = _plan(tmp_path, TWO_CORPORA % "there" + "  heads: {type: attention_probe, dep: dep, data: lem}\n")
    names = [stage.name for stage in plan.stages]
    assert names[:5] == [
        "data-corpus", "data-second", "pretrain-small", "prepare-corpus-small", "prepare-second-small",
    ]  # fmt: skip
    roles = {"prepare-pos": "prepare-corpus-small", "prepare-lem": "prepare-second-small"}
    assert _corpora(plan, "train-stl-pos-s1") == {"prepare-pos": "prepare-corpus-small"}
    assert _corpora(plan, "evaluate-stl-lem-s1") == {"prepare-lem": "prepare-second-small"}
    assert _corpora(plan, "train-mtl-all-s1") == _corpora(plan, "report") == roles
    assert _corpora(plan, "measure-heads-stl-pos-s1") == {"prepare-lem": "prepare-second-small"}
    assert plan.stage("train-stl-lem-s1").params["tasks"]["lem"]["data"] == "lem"
    assert plan.stage("pretrain-small").inputs == {"data": "data-corpus"}


WORDS = TWO_CORPORA.replace(
    "card: small, data: pos,", "type: birnn, card: {card: encoder, name: w, licence: x, source: words},"
)


def test_words_are_collected_from_all_corpora_or_from_the_one_that_is_named(tmp_path: Path) -> None:
    both = _plan(tmp_path / "both", WORDS % "there").stage("collect-w")
    assert both.inputs == {"data-pos": "data-corpus", "data-lem": "data-second"}
    assert list(both.params["data_cards"]) == ["pos", "lem"]
    one = _plan(tmp_path / "one", (WORDS % "there").replace("source: words},", "source: words}, data: lem,"))
    assert one.stage("collect-w").inputs == {"data-lem": "data-second"}


def test_an_edit_of_one_corpus_concerns_only_the_models_that_read_it(tmp_path: Path) -> None:
    before = _plan(tmp_path / "before", TWO_CORPORA % "there")
    after = _plan(tmp_path / "after", TWO_CORPORA % "elsewhere")
    ids = {stage.name: stage.id for stage in before.stages}
    changed = {stage.name for stage in after.stages if stage.id != ids[stage.name]}
    models = {
        f"{stage}-{model}-s{seed}"
        for stage in ("train", "evaluate")
        for model in ("stl-lem", "mtl-all")
        for seed in (1, 2)
    }
    assert changed == {"data-second", "prepare-second-small", "analyse-scores", "report"} | models


def _corpora(plan: Plan, stage: str) -> dict[str, str]:
    return {role: parent for role, parent in plan.stage(stage).inputs.items() if role.startswith("prepare-")}


def test_what_is_kept_of_models_concerns_no_stage_but_the_report(tmp_path: Path) -> None:
    """Unsaid, it is no part of a plan; said, models are not trained again for it."""

    def plan(name: str, said: str) -> Plan:
        return _plan(tmp_path / name, SPEC.replace("sharing: hard, train", f"sharing: hard, {said}train"))

    unsaid, said, scores = plan("a", ""), plan("b", "keep: weights, "), plan("c", "keep: scores, ")
    assert unsaid.text() == said.text() and "scores" not in unsaid.stage("report").params["spec"]["models"]["mtl"]
    changed = {a.name for a, b in zip(unsaid.stages, scores.stages, strict=True) if a != b}
    assert changed == {"report"}
