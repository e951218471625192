"""Signatures of scores: what they say, what they are the same for, and what changes them."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from mtlspec.io.digest import digest_value
from mtlspec.metrics.attachment import Attachment
from mtlspec.metrics.classes import ClassScores
from mtlspec.metrics.correlation import Correlation
from mtlspec.results.signatures import mean_signature, signature
from mtlspec.spec.cards import DataCard

ROOT = Path(__file__).parents[3]
DIGESTS = {name: digest_value(name) for name in ("train.txt", "test.txt", "more/a.txt", "more/deep/b.txt", "other.txt")}


def card(**changes: Any) -> dict[str, Any]:
    group = {
        "reader": {"type": "conllu"},
        "paths": {"train": "train.txt", "test": "test.txt"},
        "layers": {"dep": "dep"},
    }
    known = {"card": "data", "name": "toy", "licence": "CC0", "source": "us", "files": [group], "sha256": DIGESTS}
    return DataCard.model_validate({**known, **changes}).model_dump(mode="json")


def fields(text: str) -> dict[str, str]:
    name, *rest = text.split("|")
    return {"score": name, **dict(part.split(":", 1) for part in rest)}


def test_a_signature_names_metric_options_data_reader_version_and_code() -> None:
    found = fields(signature("las", Attachment("unicode_p", True), card(), "dep", "test"))
    assert list(found) == ["score", "metric", "rule", "subtypes", "layer", "data", "reader", "version", "code"]
    assert (found["score"], found["metric"], found["rule"], found["subtypes"]) == (
        "las",
        "attachment",
        "unicode_p",
        "yes",
    )
    assert found["data"] == f"toy/test@{DIGESTS['test.txt'][:12]}"  # what `sha256sum test.txt` prints
    assert re.fullmatch(r"conllu@[0-9a-f]{8}", found["reader"]) and re.fullmatch(r"[0-9a-f]{8}", found["code"])


def test_only_what_makes_a_score_changes_its_signature() -> None:
    told = signature("las", Attachment("unicode_p", True), card(), "dep", "test")
    assert signature("las", Attachment("unicode_p", True), card(title="New", source="them"), "dep", "test") == told
    trained = copy.deepcopy(card())
    trained["sha256"]["train.txt"] = "0" * 64
    assert signature("las", Attachment("unicode_p", True), trained, "dep", "test") == told
    others = [
        signature("uas", Attachment("unicode_p", True), card(), "dep", "test"),
        signature("las", Attachment("unicode_p", False), card(), "dep", "test"),
        signature("las", Attachment("unicode_p", True), card(sha256={**DIGESTS, "test.txt": "0" * 64}), "dep", "test"),
        signature("las", Attachment("unicode_p", True), card(on_invalid="drop"), "dep", "test"),
        signature("las", Attachment("unicode_p", True), card(), "dep", "train"),
    ]
    assert len({told, *others}) == 6


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        ("more", ["more/a.txt", "more/deep/b.txt"]),
        ("more/**/*.txt", ["more/a.txt", "more/deep/b.txt"]),
        ("more/*.txt", ["more/a.txt"]),
        ("./test.txt", ["test.txt"]),
        (["other.txt", "test.txt"], ["other.txt", "test.txt"]),
        ("[!t]*.txt", ["other.txt"]),
        ("absent.txt", []),
    ],
)
def test_a_split_of_several_files_has_the_digest_of_their_digests(paths: Any, files: list[str]) -> None:
    group = {"reader": {"type": "conllu"}, "paths": {"test": paths}, "layers": {"dep": "dep"}}
    found = fields(signature("las", Attachment("unicode_p", True), card(files=[group]), "dep", "test"))["data"]
    digests = [DIGESTS[name] for name in files]
    expected = digests[0] if len(digests) == 1 else digest_value(digests)
    assert found == f"toy/test@{expected[:12] if digests else 'unpinned'}"


def test_a_split_that_is_held_out_says_of_what() -> None:
    found = fields(
        signature("las", Attachment("unicode_p", True), card(hold_out={"dev": 0.1, "seed": 3}), "dep", "dev")
    )
    assert found["data"] == f"toy/dev@{DIGESTS['train.txt'][:12]}" and found["held_out"] == "0.1@3"


def test_labels_cannot_break_the_line_and_many_are_counted() -> None:
    metric = ClassScores(["a|b", "c d", "e:\n"], "f1_macro", "a|b")
    found = fields(signature("f1_macro", metric, card(), "dep", "test"))
    assert (found["labels"], found["positive"]) == ("a%7Cb+c%20d+e%3A%0A", "a%7Cb")
    many = ClassScores([f"label {number}" for number in range(9)], "f1_macro", None)
    assert re.fullmatch(r"9@[0-9a-f]{8}", fields(signature("f1_macro", many, card(), "dep", "test"))["labels"])


def test_which_score_decides_is_no_part_of_one() -> None:
    a, b = (signature("pearson", Correlation(main), card(), "dep", "test") for main in ("pearson", "spearman"))
    assert a == b


def test_a_mean_names_its_parts() -> None:
    text = mean_signature({"dep/las": "las|x", "pos/accuracy": "accuracy|y"})
    assert re.fullmatch(r"mean\|of:dep/las\+pos/accuracy\|signatures:[0-9a-f]{8}", text)
    assert mean_signature({"dep/las": "las|x", "pos/accuracy": "accuracy|z"}) != text


def test_cards_of_records_have_signatures() -> None:
    record = json.loads((ROOT / "registry/runs/stem_cell/record.json").read_bytes())
    mini = record["data"]["cards"]["english_mini"]
    found = fields(signature("las", Attachment("unicode_p", True), mini, "dep", "test"))
    assert found["data"] == f"english_mini/test@{mini['sha256']['test.conllu'][:12]}"
