"""Few-shot transfer and distillation, from a spec to a report: a teacher, a student of half its layers, many seeds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.study import Study
from tests.e2e.test_corpora import write_table

pytestmark = pytest.mark.slow

SPEC = """\
mtlspec: 1
name: small
data: {mini: mini, pairs: pairs, likeness: likeness}
encoder: {card: micro, data: mini}
tasks:
  pos: {type: tagging, layer: xpos, data: mini}
  pairs: {type: classification, layer: same}
  likeness: {type: regression, layer: score}
train: {epochs: 1, batch: {sentences: 16, tokens: 1600}}
seeds: [1]
models:
  pos: {tasks: [pos], sharing: hard}
  both: {tasks: [pairs, likeness], sharing: hard}
  inner:
    tasks: [pairs, likeness]
    sharing: hard
    train: {keep: last, distil: {teacher: both, layers: [2], hidden: 1, attention: 1, prediction: 0}}
  small: {tasks: [pairs, likeness], sharing: hard, start: inner, train: {distil: {teacher: both, layers: [2]}}}
  few_pos:
    tasks: [pairs]
    sharing: hard
    start: {group: pos, take: encoder, seed: 1}
    seeds: 2
    train: {epochs: 3, draw: balanced, keep: last, patience: 1.0, dev: last}
    sweep: {train.examples: [4, 8]}
  few_both:
    tasks: [pairs]
    sharing: hard
    start: {group: both, take: encoder, seed: 1}
    seeds: 2
    train: {epochs: 3, draw: balanced, keep: last, patience: 1.0, dev: last}
    sweep: {train.examples: [4, 8]}
analyses:
  few: {type: few_shot, models: [few_pos, few_both]}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study.create(tmp_path_factory.mktemp("transfer") / "study", SPEC)
    card = study.root / "registry/encoders/micro.yaml"
    card.write_text(card.read_text().replace("layers: 1", "layers: 2"))
    write_table(study.root, "pairs", "text: [a, b], label: {same: same}", "same: same")
    write_table(study.root, "likeness", "text: [a, b], value: {score: score}", "score: score")
    for card in ("pairs", "likeness"):
        study.mtlspec("data", "lock", card)
    study.mtlspec("run", "small")
    return study


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


def test_seeds_of_a_group_learn_from_few_examples_of_every_class(study: Study) -> None:
    record = _json(study.run / "record.json")
    assert record["missing"] == []
    runs = {model["name"]: len(model["runs"]) for model in record["models"]}
    assert runs["few_pos-pairs-examples_4"] == runs["few_both-pairs-examples_8"] == 2
    assert runs["both-pairs-likeness"] == 1
    facts = record["stages"]["train-few_pos-pairs-examples_4-s2"]["facts"]
    assert facts["examples"]["pairs"]["trained"] == 4
    assert facts["epochs"] == 3
    numbers = _json(study.run / "artifacts/analyse-few/analysis.json")["numbers"]
    assert [(test["model"], test["examples"]) for test in numbers["tests"]] == [("few_both", 4), ("few_both", 8)]
    assert all(test["found"]["seeds"] == [2, 2] for test in numbers["tests"])
    assert "Few-shot transfer" in (study.run / "artifacts/report/report.html").read_text()


def test_a_student_has_a_layer_and_its_teacher_is_an_input(study: Study) -> None:
    stages = _json(study.run / "record.json")["stages"]
    teachers = {"teacher-pairs", "teacher-likeness"}
    assert teachers <= set(stages["train-inner-pairs-likeness-s1"]["inputs"])
    assert {*teachers, "start"} <= set(stages["train-small-pairs-likeness-s1"]["inputs"])
    config = _json(study.run / "artifacts/train-small-pairs-likeness-s1/encoder/config.json")
    assert config["num_hidden_layers"] == 1
    assert stages["evaluate-small-pairs-likeness-s1"]["scores"].keys() == (
        stages["evaluate-both-pairs-likeness-s1"]["scores"].keys()
    )


def test_the_record_holds_and_a_second_run_has_nothing_to_do(study: Study) -> None:
    assert "small: sealed, everything holds" in study.mtlspec("verify", "small").stdout
    assert {stage["state"] for stage in study.plan().values()} == {"cached"}
