"""What models are called: by what they learn, also where that was decided while the study ran."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mtlspec.plan.rows import ModelRow
from mtlspec.results.learnt import with_choices
from mtlspec.results.variants import variants

ROW = ModelRow("oracle", ("pos",), 1, (("train.epochs", 3),), "train-o-s1", "evaluate-o-s1", select="select-o")


def label(row: ModelRow, inputs: dict[str, Path]) -> str:
    (variant,) = variants(with_choices([row, replace(row, seed=2)], inputs))
    return variant.label


@pytest.mark.parametrize(
    ("learnt", "called"),
    [
        (["pos"], "oracle: pos (none selected) [epochs 3]"),
        (["ner", "dep", "pos"], "oracle: pos + dep + ner (selected) [epochs 3]"),
    ],
)
def test_a_model_of_chosen_tasks_is_called_by_what_it_learnt(learnt: list[str], called: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({"tasks": [{"name": name} for name in learnt]}))
    (tmp_path / "scores.json").write_text(json.dumps({key: {} for key in learnt}))
    assert label(ROW, {"train-o-s1": tmp_path}) == label(ROW, {"evaluate-o-s1": tmp_path}) == called
    fixed = replace(ROW, select=None)
    assert label(fixed, {"train-o-s1": tmp_path}) == "oracle: pos [epochs 3]"


def test_a_choice_that_is_not_known_is_not_guessed_and_no_plan_has_one() -> None:
    assert label(ROW, {}) == "oracle: pos + any selected [epochs 3]"
    known = replace(ROW, chosen=("ner",))
    assert known.stored() == ROW.stored() and ModelRow.restored(known.stored()) == ROW
