"""Questions about texts: SQuAD's and MRQA's files become examples, every question for itself; defects have places."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.answers import Answered
from mtlspec.data.readers import mrqa, squad
from mtlspec.errors import DataError

CONTEXT = "Rollo led the Normans (Northmen) to Rouen."
ROLLO = {"id": "q1", "question": "Who led them?", "answers": [{"text": "Rollo", "answer_start": 0}]}
NOBODY = {"id": "q2", "question": " Who stayed? ", "answers": [], "is_impossible": True}
MRQA = {
    "qid": "m1",
    "question": "Who?",
    "answers": ["Normans", "the Northmen"],
    "detected_answers": [
        {"text": "The Normans", "char_spans": [[14, 20], [14, 20]]},
        {"text": "Northmen", "char_spans": [[23, 30]]},
    ],
}
SQUAD_OPTIONS, MRQA_OPTIONS = squad.Options(type="squad"), mrqa.Options(type="mrqa")


def nested(*questions: Any, context: str = CONTEXT) -> dict[str, Any]:
    return {"version": "1.1", "data": [{"title": "x", "paragraphs": [{"context": context, "qas": list(questions)}]}]}


def write(folder: Path, content: Any, name: str = "file.json") -> Path:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


@pytest.mark.parametrize("name", ["file.json", "file.json.gz"])
def test_squad_is_read_nested_or_flat_plain_or_packed(tmp_path: Path, name: str) -> None:
    flat = [
        {**ROLLO, "context": CONTEXT, "answers": {"text": ["Rollo", "Rollo led"], "answer_start": [0, 0]}},
        {**NOBODY, "context": CONTEXT, "answers": {"text": [], "answer_start": []}},
    ]
    for content in (nested(ROLLO, NOBODY), {"data": flat, "version": 2.0}, flat):
        one, two = SQUAD_OPTIONS.read(write(tmp_path, content, name))
        assert (one.id, one.texts, one.place[1]) == ("q1", ("Who led them?", CONTEXT), 1)
        assert one.layers["answer"].texts[0] == "Rollo" and set(one.layers["answer"].spans) <= {(0, 5), (0, 9)}
        assert (two.id, two.texts[0], two.layers) == ("q2", "Who stayed?", {"answer": Answered()})


def test_places_are_lines_and_columns_of_the_text(tmp_path: Path) -> None:
    text = '{"data": [\n {"paragraphs": [{"context": "A b", "qas": []},\n  %s, %s]}]}'
    right, wrong = ({"context": "A b", "qas": [{**ROLLO, "id": name, "answers": []}]} for name in ("x", "y"))
    wrong["qas"][0]["answers"] = [{"text": "b", "answer_start": 1}]  # type: ignore[index]
    file = write(tmp_path, text % (json.dumps(right), json.dumps(wrong)))
    stream = SQUAD_OPTIONS.read(file)
    assert next(stream).place == (str(file), 3)
    with pytest.raises(DataError) as caught:
        next(stream)
    column = len(f"  {json.dumps(right)}, ") + 1
    told = "this is no question about a text: question 'y': the answer 'b' does not stand at 1, where the text has ' '"
    assert str(caught.value) == f"{file}:3:{column}: error E924: {told}"


def test_mrqa_takes_what_counts_and_where_it_stands(tmp_path: Path) -> None:
    lines = [{"header": {"dataset": "x"}}, {"context": CONTEXT, "qas": [MRQA, {**MRQA, "qid": "m2"}]}]
    file = write(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines), "file.jsonl.gz")
    one, two = MRQA_OPTIONS.read(file)
    assert (one.id, two.id, one.place) == ("m1", "m2", (str(file), 2))
    assert one.layers["answer"] == Answered(("Normans", "the Northmen"), ((14, 21), (23, 31)))
    assert all(not sentence.layers for sentence in MRQA_OPTIONS.unlabelled().read(file))
    assert MRQA_OPTIONS.layer_kind("answer") == "answer" and MRQA_OPTIONS.layer_kind("label") is None


def test_parts_keep_texts_together(tmp_path: Path) -> None:
    lines = [json.dumps({"context": f"{CONTEXT} {n}", "qas": [MRQA, MRQA]}) for n in range(100)]
    file = write(tmp_path, "".join(f"{line}\n" for line in lines), "file.jsonl")
    read = {part: list(mrqa.Options(type="mrqa", part=part).read(file)) for part in ("all", "dev", "test")}
    texts = {part: {one.texts[1] for one in found} for part, found in read.items()}
    assert not texts["dev"] & texts["test"] and texts["dev"] | texts["test"] == texts["all"]
    assert len(read["dev"]) + len(read["test"]) == 200 and 60 <= len(read["dev"]) <= 140


BAD_QUESTIONS: list[tuple[dict[str, Any], str]] = [
    ({"question": ""}, "'question' must be a text, not an empty text"),
    ({"answers": "Rollo"}, "'answers' must be a list of objects, not the text 'Rollo'"),
    ({"answers": [{"text": 3, "answer_start": 0}]}, "'answers.text' must be a list of texts"),
    ({"answers": [{"text": "Rollo", "answer_start": 5}]}, "the answer 'Rollo' does not stand at 5, where the text has"),
    ({"answers": [{"text": "Rollo", "answer_start": 40}]}, "would stand at 40 to 45 of 42 characters"),
    ({"answers": [{"text": "Rollo", "answer_start": -1}]}, "would stand at -1 to 4 of 42 characters"),
    ({"answers": [{"text": "Rollo"}]}, "would stand at null to null"),
    ({"answers": [{"text": "Rollo", "answer_start": True}]}, "would stand at true"),
    ({"answers": [{"text": "", "answer_start": 0}]}, "would stand at 0 to 0"),
    ({"answers": {"text": ["Rollo"], "answer_start": []}}, "'answers.answer_start' must have a number for every text"),
]


@pytest.mark.parametrize(("change", "told"), BAD_QUESTIONS)
def test_a_question_that_is_wrong_leaves_the_others_as_they_are(
    change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    file = write(tmp_path, nested(NOBODY, {**ROLLO, **change}, ROLLO))
    found: list[Any] = []
    for block in SQUAD_OPTIONS.blocks(file):
        try:
            found.append(SQUAD_OPTIONS.parse(block).id)
        except DataError as error:
            found.append(str(error))
    assert [found[0], found[2]] == ["q2", "q1"]
    assert (
        found[1].startswith(f"{file}:1:") and "error E924: this is no question about a text: question 'q1'" in found[1]
    )
    assert told in found[1] and "\n" not in found[1]


BAD_FILES = [
    ("{", "error E770: not JSON"),
    ('{"data": [{"paragraphs": [{"context": "a", "qas": []} 3', "error E770: not JSON: Expecting ',' delimiter"),
    ('{"version": 1}', "error E925: the file has no list 'data'; is this SQuAD's JSON?"),
    ('{"data": 3}', "error E925: the file has no list 'data'"),
    ('{"data": [{"paragraphs": 3}]}', "1:26: error E926: 'paragraphs' of an article is not a list"),
    ('{"data": [{"paragraphs": [{"context": "", "qas": [{}]}]}]}', "1:27: error E924: .*'context' must be a text"),
    ('{"data": [{"paragraphs": [{"context": "a", "qas": {}}]}]}', "1:27: error E924: .*'qas' must be a list"),
    ('{"data": [{"paragraphs": [{"context": "a", "qas": [7]}]}]}', "1:27: error E924: .*question 1 must be an object"),
    ('{"data": [{"paragraphs": [{"context": "a", "context": "b"}]}]}', "error E721: .*'context' stands twice"),
    ('{"data": [7]}', ":1: error E722: an example must be a JSON object"),
]


@pytest.mark.parametrize(("content", "told"), BAD_FILES)
def test_a_file_that_is_wrong_is_told_in_one_line(content: str, told: str, tmp_path: Path) -> None:
    file = write(tmp_path, content)
    with pytest.raises(DataError, match=told) as caught:
        list(SQUAD_OPTIONS.read(file))
    assert str(caught.value).startswith(str(file)) and "\n" not in str(caught.value)


BAD_LINES: list[tuple[Any, str]] = [
    ({"answers": ["Rollo"], "detected_answers": []}, "no place in the text is told for the answer 'Rollo'"),
    ({"detected_answers": [{"text": "Rollo", "char_spans": [[1, 5]]}]}, "does not stand at 1"),
    ({"detected_answers": [{"text": "Rollo", "char_spans": [[0]]}]}, "'char_spans' must be a list of pairs"),
    ({"detected_answers": [{"text": "Rollo", "char_spans": [[0, "4"]]}]}, "would stand at 0 to the text '4'"),
    ({"detected_answers": 3}, "'detected_answers' must be a list of objects"),
    ({"answers": None}, "'answers' must be a list of texts"),
    ({"question": None}, "'question' must be a text"),
]


@pytest.mark.parametrize(("change", "told"), BAD_LINES)
def test_a_line_that_is_wrong_is_told_with_its_number(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    lines = [{"context": CONTEXT, "qas": [MRQA]}, {"context": CONTEXT, "qas": [{**MRQA, **change}]}]
    file = write(tmp_path, "".join(f"{json.dumps(line)}\n" for line in lines), "file.jsonl")
    with pytest.raises(DataError) as caught:
        list(MRQA_OPTIONS.read(file))
    assert str(caught.value).startswith(f"{file}:2: error E924: this is no question about a text: question 'm1': ")
    assert told in str(caught.value)


@pytest.mark.realdata
@pytest.mark.skipif("MTLSPEC_DATA" not in os.environ, reason="MTLSPEC_DATA names no folder of real data")
def test_real_files_are_read_whole() -> None:
    folder = Path(os.environ["MTLSPEC_DATA"]) / "qa"
    found = list(SQUAD_OPTIONS.read(folder / "xquad.en.json"))
    assert len(found) == 1190 and all(len(one.layers["answer"].spans) == 1 for one in found)
    found = list(SQUAD_OPTIONS.read(folder / "squad20_flat.hf-fixture.json"))
    assert (len(found), sum(not one.layers["answer"].texts for one in found)) == (14, 6)
    found = list(MRQA_OPTIONS.read(folder / "SQuAD-dev.first250.jsonl.gz"))
    assert len(found) == 1687 and all(one.layers["answer"].spans for one in found)
