"""Tables and JSON lines: what is read, and what is said about files that are broken."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.data.corpus import read_split
from mtlspec.data.readers import json as json_list
from mtlspec.data.readers import jsonl, table
from mtlspec.data.sentence import Sentence
from mtlspec.data.statistics import Statistics
from mtlspec.errors import DataError, Place
from mtlspec.spec.cards import DataCard
from tests.unit.data.broken_examples import BROKEN

KINDS = {"table": table.Options, "jsonl": jsonl.Options, "json": json_list.Options}


def read(folder: Path, content: str | bytes, reader: str, **options: Any) -> list[Sentence]:
    file = folder / "x"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    made = KINDS[reader].model_validate({"type": reader, **options})
    assert made.problem() is None
    return list(made.read(file))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_to_the_letter(name: str, tmp_path: Path) -> None:
    case = BROKEN[name]
    with pytest.raises(DataError) as caught:
        read(tmp_path, case.text, case.reader, **case.options)
    assert str(caught.value) == f"{tmp_path / 'x'}{case.error}"


def test_there_are_enough_broken_files() -> None:
    assert len(BROKEN) >= 60


def test_columns_by_name_and_number_with_a_byte_order_mark_and_other_line_ends(tmp_path: Path) -> None:
    text = '\ufeffs\tl\tv\r\nIt\'s "so"\tx\t1.5\r\nb\t\t\r\n'
    options: dict[str, Any] = {"label": {"l": 1}, "value": {"v": "v"}}
    first, second = read(tmp_path, text, "table", text=["s"], **options)
    assert first == Sentence("1", (), {"l": "x", "v": 1.5}, (str(tmp_path / "x"), 2), texts=('It\'s "so"',))
    assert second.layers == {} and second.texts == ("b",)
    (only,) = read(tmp_path, "a;b;c\n", "table", header=False, delimiter=";", text=[0, -1], id=1)
    assert only.texts == ("a", "c") and only.id == "b" and only.layers == {}


def test_cells_in_quotes_may_hold_anything_and_lines_are_counted(tmp_path: Path) -> None:
    text = 's,l\n"a, ""b""\nc",x\n\nd " e,y\n'
    first, second = read(tmp_path, text, "table", delimiter="comma", quotes="csv", text=["s"], label={"l": "l"})
    assert first.texts == ('a, "b"\nc',) and first.place[1] == 2
    assert second.texts == ('d " e',) and second.place[1] == 5


def test_a_row_may_be_cut_at_its_first_delimiter_only(tmp_path: Path) -> None:
    options: dict[str, Any] = {"header": False, "delimiter": "space", "cuts": 1, "text": [1], "label": {"l": 0}}
    (only,) = read(tmp_path, "1 a b  c\n", "table", **options)
    assert only.texts == ("a b  c",) and only.layers == {"l": "1"}


def test_lines_end_where_files_say_so(tmp_path: Path) -> None:
    first, second = read(tmp_path, "a\x85b\u2028c\tx\nd\ty\n", "table", header=False, text=[0], label={"l": 1})
    assert first.texts == ("a\x85b\u2028c",) and second.place[1] == 2


def test_classes_are_a_list_or_a_mapping(tmp_path: Path) -> None:
    text = "a\t0\nb\t1\nc\t-\n"
    options: dict[str, Any] = {"header": False, "text": [0], "label": {"l": 1}, "missing": ["-"]}
    found = read(tmp_path, text, "table", **options, classes={"l": {"0": "no", "1": "yes"}})
    assert [s.layers.get("l") for s in found] == ["no", "yes", None]
    found = read(tmp_path, text, "table", **options, classes={"l": ["0", "1"]})
    assert [s.layers.get("l") for s in found] == ["0", "1", None]


def test_words_and_tags_may_stand_in_cells(tmp_path: Path) -> None:
    options: dict[str, Any] = {"words": "w", "tags": {"t": "t"}, "label": {"l": "l"}, "missing": ["", "_"]}
    rows = [{"w": ["a", "b"], "t": ["X", None], "l": "yes"}, {"w": "c d", "t": None, "l": "no"}]
    found = read(tmp_path, "\n".join(map(json.dumps, rows)), "jsonl", **options)
    assert [s.words for s in found] == [("a", "b"), ("c", "d")]
    assert [dict(s.layers) for s in found] == [{"l": "yes", "t": ("X", None)}, {"l": "no"}]
    (only,) = read(tmp_path, "w\tt\tl\na b\tX _\tyes\n", "table", **options)
    assert only.layers == {"l": "yes", "t": ("X", None)} and only.words == ("a", "b")


def test_json_fields_have_dotted_names_and_any_label(tmp_path: Path) -> None:
    rows = [
        {"a": {"b": ["x", "one"]}, "l": True, "v": 3, "i": 7},
        {"a": {"b": ["x", "two"]}, "l": 0, "v": "2.5"},
        {"a": {"b": ["x", "three"]}, "l": 1.5, "v": None, "a.b.1": "dots in a name"},
    ]
    options: dict[str, Any] = {"text": ["a.b.1"], "label": {"l": "l"}, "value": {"v": "v"}, "id": "i"}
    found = read(tmp_path, "\n\n".join(map(json.dumps, rows)), "jsonl", **options)
    assert [s.texts for s in found] == [("one",), ("two",), ("dots in a name",)]
    assert [dict(s.layers) for s in found] == [{"l": "true", "v": 3.0}, {"l": "0", "v": 2.5}, {"l": "1.5"}]
    assert [s.id for s in found] == ["7", "2", "3"] and [s.place[1] for s in found] == [1, 3, 5]


def test_what_is_missing_may_be_a_number_and_whole_numbers_are_one_class(tmp_path: Path) -> None:
    rows = [{"t": "a", "l": 1, "v": -1}, {"t": "b", "l": 1.0, "v": 2.5}, {"t": "c", "l": "1", "v": -1.0}]
    options: dict[str, Any] = {"text": ["t"], "label": {"l": "l"}, "value": {"v": "v"}, "missing": ["", "-1"]}
    found = read(tmp_path, "\n".join(map(json.dumps, rows)), "jsonl", **options)
    assert [dict(s.layers) for s in found] == [{"l": "1"}, {"l": "1", "v": 2.5}, {"l": "1"}]


@pytest.mark.parametrize("reader", ["table", "jsonl", "json"])
def test_an_underscore_is_no_label_number_or_tag_but_may_be_a_text_or_said_to_be_a_class(
    reader: str, tmp_path: Path
) -> None:
    rows = [{"t": "_", "l": "x", "v": "1"}, {"t": "b", "l": "_", "v": "_"}, {"t": "c", "l": "", "v": ""}]
    tables = "t\tl\tv\n" + "".join("\t".join(row.values()) + "\n" for row in rows)
    texts = {"table": tables, "jsonl": "\n".join(map(json.dumps, rows)), "json": json.dumps(rows)}
    options: dict[str, Any] = {"text": ["t"], "label": {"l": "l"}, "value": {"v": "v"}}
    found = read(tmp_path, texts[reader], reader, **options)
    assert [(s.texts, dict(s.layers)) for s in found] == [(("_",), {"l": "x", "v": 1.0}), (("b",), {}), (("c",), {})]
    found = read(tmp_path, texts[reader], reader, text=["t"], label={"l": "l"}, missing=[""])
    assert [s.layers.get("l") for s in found] == ["x", "_", None]
    words = [{"w": ["_", "b"], "g": ["X", "_"]}, {"w": ["c"], "g": ["_"]}]
    if reader != "table":
        text = json.dumps(words) if reader == "json" else "\n".join(map(json.dumps, words))
        found = read(tmp_path, text, reader, words="w", tags={"g": "g"})
        assert [(s.words, dict(s.layers)) for s in found] == [(("_", "b"), {"g": ("X", None)}), (("c",), {})]


def test_a_class_cannot_be_missing_at_once() -> None:
    made = table.Options(type="table", text=("t",), label={"l": "l"}, classes={"l": ("_", "x")})
    assert made.problem() == "`classes` and `missing` both name '_'; if it is a class, set `missing`"


def test_blanks_around_a_label_are_no_part_of_it_unless_the_card_says_so(tmp_path: Path) -> None:
    options: dict[str, Any] = {"header": False, "text": [0], "label": {"l": 1}}
    text = "a\tx\nb\t x \nc\t \nd\t _\n"
    assert [s.layers.get("l") for s in read(tmp_path, text, "table", **options)] == ["x", "x", None, None]
    found = read(tmp_path, text, "table", **options, classes={"l": {"x": "bare", " x ": "blank"}})
    assert [s.layers.get("l") for s in found] == ["bare", "blank", None, None]


def test_packed_files_are_read_too(tmp_path: Path) -> None:
    file = tmp_path / "x.tsv.gz"
    file.write_bytes(gzip.compress(b"s\tl\na\tx\n"))
    options = table.Options(type="table", text=("s",), label={"l": "l"})
    assert [s.texts for s in options.read(file)] == [("a",)]


PROBLEMS: dict[str, tuple[str, dict[str, Any], str]] = {
    "neither text nor words": ("table", {}, "say `text` or `words`, not neither"),
    "both": ("jsonl", {"text": ["a"], "words": "w"}, "say `text` or `words`, not both"),
    "a name twice": (
        "jsonl",
        {"text": ["a"], "label": {"x": "l"}, "value": {"x": "v"}},
        "'x' stands twice in `label`, `value` and `tags`",
    ),
    "tags of a text": ("jsonl", {"text": ["a"], "tags": {"t": "t"}}, "`tags` need `words`"),
    "classes of nothing": (
        "jsonl",
        {"text": ["a"], "label": {"l": "l"}, "classes": {"k": ["a"]}},
        "`classes` names 'k', which neither `label` nor `tags` does",
    ),
    "names without a header": (
        "table",
        {"header": False, "text": ["a"]},
        "without `header` a column is a number, not 'a'",
    ),
    "long delimiter": (
        "table",
        {"text": ["a"], "quotes": "csv", "delimiter": "||"},
        "with `quotes: csv` the delimiter is one character, and no quote",
    ),
    "cuts in CSV": (
        "table",
        {"text": ["a"], "quotes": "csv", "cuts": 1},
        "`cuts` and `quotes: csv` exclude each other",
    ),
    "numbers of fields": ("jsonl", {"text": [1]}, "a field has a name, not the number 1"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_options_that_make_no_sense_together_are_refused(name: str) -> None:
    reader, options, problem = PROBLEMS[name]
    assert KINDS[reader].model_validate({"type": reader, **options}).problem() == problem


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)


@settings(max_examples=80)
@given(st.lists(st.tuples(CELL, st.sampled_from("xyz")), min_size=1), st.sampled_from(",;|\t"))
def test_what_csv_writes_is_read_back(rows: list[tuple[str, str]], delimiter: str) -> None:
    rows = [(text.replace("\r", "\n"), label) for text, label in rows]
    rows = [(text if text.strip() else "a", label) for text, label in rows]
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([("s", "l"), *rows])
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"delimiter": delimiter, "quotes": "csv", "text": ["s"], "label": {"l": "l"}}
        found = read(Path(folder), file.getvalue(), "table", **options)
    assert [(s.texts[0], s.layers["l"]) for s in found] == rows


@settings(max_examples=80)
@given(st.lists(st.tuples(CELL, st.booleans(), st.floats(allow_nan=False, allow_infinity=False)), min_size=1))
def test_what_json_writes_is_read_back(rows: list[tuple[str, bool, float]]) -> None:
    text = "\n".join(json.dumps({"s": s, "l": b, "v": v}) for s, b, v in rows)
    with tempfile.TemporaryDirectory() as folder:
        found = read(Path(folder), text, "jsonl", text=["s"], label={"l": "l"}, value={"v": "v"})
    assert [(s.texts[0], s.layers["l"] == "true", s.layers["v"]) for s in found] == rows


def test_rows_that_a_quote_swallows_are_counted_by_their_lines(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text('s,l\na,x\n"b,y\nc,z\nd,"x"\ne,y\n')
    reader = {"type": "table", "delimiter": "comma", "quotes": "csv", "text": ["s"], "label": {"l": "l"}}
    paths = dict.fromkeys(("train", "dev", "test"), "x.csv")
    about = {"card": "data", "name": "x", "licence": "x", "source": "x", "root": ".", "on_invalid": "drop"}
    card = DataCard.model_validate({**about, "files": [{"reader": reader, "paths": paths, "layers": {"l": "l"}}]})
    dropped: list[DataError] = []
    statistics = Statistics(card.layer_kinds)
    kept = list(statistics.watch("train", read_split(card, tmp_path, "train", dropped)))
    assert [sentence.texts for sentence in kept] == [("a",), ("e",)]
    (defect,) = dropped
    assert (defect.lines, defect.place) == (3, Place(str(tmp_path / "x.csv"), 3)) and "(a row of 3 lines)" in str(
        defect
    )
    found = statistics.result(dropped={"train": dropped})
    assert (found["dropped sentences"], found["dropped lines"]) == ({"train": 1}, {"train": 3})
    assert "dropped lines" not in statistics.result(dropped={"train": []})
