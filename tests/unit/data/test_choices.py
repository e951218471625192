"""Questions with choices become an example a choice, whichever way they are written; defects name their line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.choices import Choice
from mtlspec.data.readers.choices import Options
from mtlspec.errors import DataError

LIST: dict[str, Any] = {"question": ("ctx",), "choices": ("endings",), "right": "label"}
FIELDS: dict[str, Any] = {"question": ("sent1", "sent2"), "choices": ("ending0", "ending1"), "right": "label"}


def read(folder: Path, said: dict[str, Any], *objects: Any) -> list[Any]:
    file = folder / "file.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in objects))
    return list(Options(type="choices", **said).read(file))


def test_choices_stand_in_a_list_or_in_fields(tmp_path: Path) -> None:
    first, second = read(tmp_path, {**LIST, "id": "ind"}, {"ind": 7, "ctx": "A", "endings": ["b", "c"], "label": 1})
    assert [one.texts for one in (first, second)] == [("A", "b"), ("A", "c")]
    assert [one.layers["choice"] for one in (first, second)] == [Choice("7", "b", 0.0), Choice("7", "c", 1.0)]
    assert [one.id for one in (first, second)] == ["7/0", "7/1"]
    first, second = read(tmp_path, FIELDS, {"sent1": "A", "sent2": "", "ending0": "b", "ending1": "c", "label": "0"})
    assert (first.texts, first.layers["choice"].score, second.layers["choice"].score) == (("A", "b"), 1.0, 0.0)
    assert first.layers["choice"].question == second.layers["choice"].question == "A b c"


def test_the_same_question_with_other_choices_is_another_one(tmp_path: Path) -> None:
    objects = [{"ctx": "A", "endings": ["b", ending], "label": 0} for ending in ("c", "d")]
    assert len({one.layers["choice"].question for one in read(tmp_path, LIST, *objects)}) == 2


def test_files_without_labels_are_read(tmp_path: Path) -> None:
    assert all(not one.layers for one in read(tmp_path, LIST, {"ctx": "A", "endings": ["b", "c"], "label": ""}))
    labelled = Options(type="choices", **LIST)
    assert all(not one.layers for one in labelled.unlabelled().read(tmp_path / "file.jsonl"))
    assert labelled.layer_kind("choice") == "choice" and labelled.layer_kind("label") is None


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({"ctx": "", "endings": ["b", "c"], "label": 0}, "'ctx' must be a text"),
        ({"ctx": "A", "endings": ["b"], "label": 0}, "'endings' must give two texts or more"),
        ({"ctx": "A", "endings": "b", "label": 0}, "'endings' must give two texts or more"),
        ({"ctx": "A", "endings": ["b", 3], "label": 0}, "choice 1 (counted from 0) must be a text, not 3"),
        ({"ctx": "A", "endings": [], "label": 0}, "'endings' must give two texts or more, not an empty list"),
        ({"ctx": "A", "endings": ["b", "c"], "label": "9" * 5000}, "'label' must be the number of a choice, 0 to 1"),
        ({"ctx": "A", "endings": ["b", "c"], "label": 2}, "'label' must be the number of a choice, 0 to 1, not 2"),
        ({"ctx": "A", "endings": ["b", "c"], "label": True}, "'label' must be the number of a choice"),
        ({"ctx": "A", "endings": ["b", "c"], "label": -1}, "'label' must be the number of a choice"),
        ({"ctx": "A\0", "endings": ["b", "c"], "label": 0}, "a NUL character"),
        ({"ctx": "A", "endings": ["b\ud800", "c"], "label": 0}, "half of a surrogate pair"),
    ],
)
def test_a_defect_names_its_line(broken: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, LIST, {"ctx": "A", "endings": ["b", "c"], "label": 0}, broken)
    assert caught.value.code == "E569"
    assert f"{tmp_path / 'file.jsonl'}:2: error E569: this is no question with choices: " in str(caught.value)
    assert told in str(caught.value)


@pytest.mark.realdata
@pytest.mark.skipif("MTLSPEC_DATA" not in os.environ, reason="MTLSPEC_DATA names no folder of real data")
def test_real_files_have_one_right_choice_of_four() -> None:
    folder = Path(os.environ["MTLSPEC_DATA"]) / "multiple_choice"
    swag = {**FIELDS, "choices": tuple(f"ending{number}" for number in range(4))}
    for file, said in (("hellaswag/hellaswag_val.1000.jsonl", LIST), ("swag/swag.hf-fixture.jsonl", swag)):
        found = [one.layers["choice"] for one in Options(type="choices", **said).read(folder / file)]
        assert len(found) % 4 == 0 and sum(choice.score for choice in found) == len(found) / 4
        assert len({choice.question for choice in found}) == len(found) / 4
