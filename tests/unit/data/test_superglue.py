"""SuperGLUE's files become examples: each task by hand, parts that keep questions whole, and defects with places."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.choices import Choice
from mtlspec.data.layer import TextSpan
from mtlspec.data.marks import Marked
from mtlspec.data.readers.superglue import Options
from mtlspec.errors import DataError

COPA = {"premise": "He fell.", "choice1": "He slept.", "choice2": "It was icy.", "question": "cause", "label": 1}
WIC = {"word": "run", "sentence1": "Run rogue.", "sentence2": "She ran far.", "label": False}
WSC = {"text": "Mark told Pete lies. He left.", "label": True}
RECORD_TEXT = "Ann met Bo Li.\n@highlight\nAnn won"


def read(folder: Path, task: str, *objects: dict[str, Any] | str, **options: Any) -> list[Any]:
    file = folder / "file.jsonl"
    lines = (line if isinstance(line, str) else json.dumps(line) for line in objects)
    file.write_text("".join(f"{line}\n" for line in lines))
    return list(Options(type="superglue", task=task, **options).read(file))  # type: ignore[arg-type]


def test_labels_are_words_whatever_json_says(tmp_path: Path) -> None:
    (one,) = read(tmp_path, "boolq", {"question": "is it", "passage": "It is.", "label": True, "idx": 3})
    assert (one.id, one.texts, one.layers) == ("3", ("is it", "It is."), {"label": "true"})
    (one,) = read(tmp_path, "cb", {"premise": "A.", "hypothesis": "b", "label": "neutral"})
    assert (one.texts, one.layers) == (("A.", "b"), {"label": "neutral"})
    (one,) = read(tmp_path, "rte", {"premise": "A.", "hypothesis": "b"})
    assert one.layers == {}  # a test file has no labels


def test_every_choice_is_an_example(tmp_path: Path) -> None:
    first, second = read(tmp_path, "copa", {**COPA, "idx": 5})
    assert first.texts == ("He fell. What was the cause of this?", "He slept.")
    assert second.texts == ("He fell. What was the cause of this?", "It was icy.")
    assert first.layers == {"choice": Choice("5", "He slept.", 0.0)}
    assert second.layers == {"choice": Choice("5", "It was icy.", 1.0)}
    assert (first.place, second.place) == ((str(tmp_path / "file.jsonl"), 1),) * 2


def test_answers_of_multirc_are_judged_one_by_one(tmp_path: Path) -> None:
    answers = [{"text": "No", "label": 0, "idx": 8}, {"text": "Yes", "label": 1, "idx": 9}]
    questions = [{"question": "Is it?", "idx": 4, "answers": answers}, {"question": "Why?", "idx": 5, "answers": []}]
    found = read(tmp_path, "multirc", {"idx": 2, "passage": {"text": "It is so.", "questions": questions}})
    assert [one.texts for one in found] == [("It is so.", "Is it? No"), ("It is so.", "Is it? Yes")]
    assert [one.layers["choice"] for one in found] == [Choice("2/4", "No", 0.0), Choice("2/4", "Yes", 1.0)]
    assert [one.id for one in found] == ["2/4/8", "2/4/9"]


def test_an_empty_answer_of_multirc_is_an_answer(tmp_path: Path) -> None:
    """The published train file has one."""
    answers = [{"text": "", "label": 0, "idx": 8}, {"text": "Yes", "label": 1, "idx": 9}]
    questions = [{"question": "Is it?", "idx": 4, "answers": answers}]
    found = read(tmp_path, "multirc", {"idx": 2, "passage": {"text": "It is so.", "questions": questions}})
    assert [one.texts for one in found] == [("It is so.", "Is it?"), ("It is so.", "Is it? Yes")]
    assert [one.layers["choice"] for one in found] == [Choice("2/4", "", 0.0), Choice("2/4", "Yes", 1.0)]


def test_entities_of_record_fill_the_query(tmp_path: Path) -> None:
    entities = [{"start": 0, "end": 2}, {"start": 8, "end": 12}, {"start": 26, "end": 28}]  # ends are inclusive
    asked = {"query": "@placeholder won it", "idx": 1, "answers": [{"start": 26, "end": 28, "text": "Ann"}]}
    made = {"idx": 0, "passage": {"text": RECORD_TEXT, "entities": entities}, "qas": [asked]}
    found = read(tmp_path, "record", made)
    assert [one.texts[1] for one in found] == ["Ann won it", "Bo Li won it"]
    assert {one.texts[0] for one in found} == {"Ann met Bo Li.\nAnn won"}
    assert [one.layers["choice"].score for one in found] == [1.0, 0.0]


def test_words_in_context_are_marked(tmp_path: Path) -> None:
    (one,) = read(tmp_path, "wic", {**WIC, "start1": 0, "end1": 3, "start2": 4, "end2": 7})
    assert one.texts == ("* Run * rogue.", "She * ran * far.")
    target = {"span1_index": 0, "span1_text": "Mark", "span2_index": 4, "span2_text": "he"}
    (one,) = read(tmp_path, "wsc", {**WSC, "target": target})
    assert one.texts == ("* Mark * told Pete lies. # He # left.",)
    (one,) = read(tmp_path, "wsc", {**WSC, "target": {**target, "span1_index": 1, "span1_text": "told Pete"}})
    assert one.texts == ("Mark * told Pete * lies. # He # left.",)


def test_words_in_context_have_places(tmp_path: Path) -> None:
    wic = {**WIC, "start1": 0, "end1": 3, "start2": 4, "end2": 7}
    (one,) = read(tmp_path, "wic", wic, marks="places")
    assert one.texts == ("Run rogue.", "She ran far.")
    assert one.layers == {"marked": Marked((TextSpan(0, 0, 3), TextSpan(1, 4, 7)), "false")}
    reader = Options(type="superglue", task="wic", marks="places")
    assert reader.layer_kind("marked") == "marked" and reader.known_labels("marked") == ("false", "true")
    (one,) = reader.unlabelled().read(tmp_path / "file.jsonl")  # which words are meant is known without labels
    assert one.layers == {"marked": Marked((TextSpan(0, 0, 3), TextSpan(1, 4, 7)))}
    target = {"span1_index": 0, "span1_text": "Mark", "span2_index": 4, "span2_text": "he"}
    for at, words, ends in ((1, "told Pete", (5, 14)), (2, "Pete lies", (10, 19)), (2, "Pete lied", (10, 20))):
        told = {**target, "span1_index": at, "span1_text": words}
        (one,) = read(tmp_path, "wsc", {**WSC, "target": told}, marks="places")
        assert one.texts == (WSC["text"],)
        assert one.layers["marked"] == Marked((TextSpan(0, *ends), TextSpan(0, 21, 23)), "true")
    assert Options(type="superglue", task="rte", marks="places").problem() is not None


def test_parts_keep_questions_whole_and_are_the_file_together(tmp_path: Path) -> None:
    objects = [{**COPA, "premise": f"He fell {n // 2}.", "idx": n} for n in range(200)]
    ids = {part: [one.id for one in read(tmp_path, "copa", *objects, part=part)] for part in ("test", "dev", "all")}
    assert sorted(ids["test"] + ids["dev"]) == sorted(ids["all"])
    assert 120 <= len(ids["dev"]) <= 280  # half of 400, pairs of questions together
    premises = [{int(name.split("/")[0]) // 2 for name in ids[part]} for part in ("test", "dev")]
    assert not premises[0] & premises[1]
    file = tmp_path / "file.jsonl"
    unlabelled = Options(type="superglue", task="copa").unlabelled()
    assert all(not one.layers for one in unlabelled.read(file))


@pytest.mark.parametrize(
    ("task", "broken", "told"),
    [
        ("copa", {**COPA, "label": 2}, "'label' must be the number of a choice, 0 or 1"),
        ("copa", {**COPA, "question": "why"}, "'question' must be cause or effect"),
        ("copa", {**COPA, "question": ["cause"]}, "'question' must be cause or effect, not a list"),
        ("cb", {"premise": "A.", "hypothesis": "b", "label": "maybe"}, "is no label; known: contradiction"),
        ("boolq", {"question": "is it", "label": True}, "'passage' must be a text"),
        ("multirc", {"passage": {"text": "It.", "questions": [{"question": "?", "answers": 3}]}}, "'answers' must be"),
        ("record", {"passage": {"text": "It.", "entities": [{"start": 2, "end": 3}]}, "qas": []}, "outside of the 3"),
        ("wic", {**WIC, "start1": 5, "end1": 99, "start2": 0, "end2": 3}, "'start1' and 'end1' give no characters"),
        (
            "wsc",
            {**WSC, "target": {"span1_index": 0, "span1_text": "M", "span2_index": 6, "span2_text": "he"}},
            "span2",
        ),
    ],
)
def test_a_defect_names_its_line(task: str, broken: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, task, "", broken)
    assert caught.value.code == "E562"
    assert str(caught.value).startswith(f"{tmp_path / 'file.jsonl'}:2: error E562: this is no example of {task}: ")
    assert told in str(caught.value)


def test_a_line_that_is_not_json_is_told_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, "copa", COPA, "{")
    assert caught.value.code == "E720"
    assert f"{tmp_path / 'file.jsonl'}:2:" in str(caught.value)


REAL = {  # examples of the real files, and how many of them are right or true
    "CB/train.jsonl": ("cb", 250, 115),
    "CB/val.jsonl": ("cb", 56, 23),
    "COPA/val.jsonl": ("copa", 200, 100),
    "WiC/val.jsonl": ("wic", 638, 319),
    "WSC/train.jsonl": ("wsc", 554, None),
    "BoolQ/val.first1000.jsonl": ("boolq", 1000, None),
    "MultiRC/train.first50.jsonl": ("multirc", 3107, None),
    "MultiRC/val.jsonl": ("multirc", 4848, None),
    "ReCoRD/train.fewglue32.jsonl": ("record", 397, None),
}


@pytest.mark.realdata
@pytest.mark.skipif("MTLSPEC_DATA" not in os.environ, reason="MTLSPEC_DATA names no folder of real data")
@pytest.mark.parametrize("path", REAL)
def test_real_files_are_read_whole(path: str) -> None:
    task, count, right = REAL[path]
    file = Path(os.environ["MTLSPEC_DATA"]) / "superglue" / path
    found = list(Options(type="superglue", task=task).read(file))  # type: ignore[arg-type]
    values = [value for one in found for value in one.layers.values()]
    assert len(found) == len(values) == count
    if right is not None:
        good = ("true", "entailment")
        assert sum(value in good if isinstance(value, str) else value.score for value in values) == right
