"""Scores beside the main one, and those of single labels."""

from __future__ import annotations

import csv
import io
from typing import Any

from mtlspec.metrics.attachment import Attachment
from mtlspec.metrics.correlation import Correlation
from mtlspec.report.all_scores import all_scores_section, labels_section
from mtlspec.results.evaluations import Evaluation
from mtlspec.results.variants import variants
from tests.model_rows import model_row

_LABELS = {
    "nsubj": {"precision": 50.0, "recall": 40.0, "f1": 44.5, "support": 5},
    "det": {"precision": 90.0, "recall": 80.0, "f1": 84.5, "support": 9},
    "dep": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0},
}


def _dep(las: float, f1: float = 84.5) -> Evaluation:
    scores = {"las": las, "uas": las + 5, "las_no_punct": las - 2, "uas_no_punct": las + 3}
    labels = {**_LABELS, "det": {**_LABELS["det"], "f1": f1}}
    about: dict[str, Any] = {"main": "las", "labels": labels, "test": scores, "dev": scores}
    return Evaluation({"dep": about}, {"dep": Attachment("unicode_p")}, {})


def _value() -> Evaluation:
    about: dict[str, Any] = {"main": "pearson", "labels": {}, "dev": {"pearson": 1.0}, "test": {"pearson": 70.0}}
    return Evaluation({"sim": about}, {"sim": Correlation("pearson")}, {})


def test_las_without_punctuation_stands_beside_las() -> None:
    rows = [model_row("stl", ["dep"], seed) for seed in (1, 2)]
    section = all_scores_section(variants(rows), {rows[0].evaluate: _dep(80.0), rows[1].evaluate: _dep(82.0)})
    assert section is not None
    (table,) = section.tables
    assert table.columns == ("model", "LAS", "LAS without punctuation", "UAS", "UAS without punctuation")
    assert [cell.value for cell in table.rows[0][1:]] == [81.0, 79.0, 86.0, 84.0]
    assert table.rows[0][2].text == "79.00 ± 1.41"
    assert "LAS is the main score" in table.caption


def test_labels_are_those_of_test_the_frequent_first_and_the_csv_has_every_number() -> None:
    rows = [model_row("stl", ["dep"], seed) for seed in (1, 2)]
    found = {rows[0].evaluate: _dep(80.0, 84.5), rows[1].evaluate: _dep(82.0, 90.5)}
    section = labels_section(variants(rows), found)
    assert section is not None
    assert section.folded
    side_by_side, long = section.tables
    assert [row[0].text for row in side_by_side.rows] == ["det", "nsubj"]
    assert side_by_side.columns == ("label", "in test", "stl: dep")
    assert [cell.value for cell in side_by_side.rows[0][1:]] == [9, 87.5]
    data = list(csv.DictReader(io.StringIO(long.csv())))
    assert [(row["model"], row["label"], row["in test"]) for row in data] == [
        ("stl: dep", "det", "9"),
        ("stl: dep", "nsubj", "5"),
    ]
    assert (data[0]["precision"], data[0]["F1"], float(data[0]["F1 std"])) == ("90.0", "87.5", 18**0.5)


def test_one_score_and_no_labels_need_no_chapter() -> None:
    row = model_row("stl", ["sim"])
    found = {row.evaluate: _value()}
    assert all_scores_section(variants([row]), found) is None
    assert labels_section(variants([row]), found) is None


def test_a_test_split_without_labels_has_neither() -> None:
    row = model_row("stl", ["dep"])
    about: dict[str, Any] = {"main": "las", "labels": {}, "dev": {"las": 1.0}}
    found = {row.evaluate: Evaluation({"dep": about}, {"dep": Attachment()}, {})}
    assert all_scores_section(variants([row]), found) is None
    assert labels_section(variants([row]), found) is None
