"""Aligned files become one stream; what does not fit together is named on both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.corpus import read_split
from mtlspec.errors import DataError, Problems
from mtlspec.spec.cards import DataCard


def card(on_invalid: str = "error", **layers: str) -> DataCard:
    paths = {split: f"{split}.{{}}" for split in ("train", "dev", "test")}
    groups: list[dict[str, Any]] = [
        {"reader": "conllu", "paths": _with(paths, "conllu"), "layers": layers or {"tag": "xpos"}},
        {"reader": "brackets", "paths": _with(paths, "trees"), "layers": {"tree": "con"}},
    ]
    return DataCard.model_validate(
        {
            "card": "data",
            "name": "x",
            "licence": "x",
            "source": "x",
            "root": ".",
            "files": groups,
            "on_invalid": on_invalid,
        }
    )


def _with(paths: dict[str, str], ending: str) -> dict[str, str]:
    return {split: path.format(ending) for split, path in paths.items()}


def conllu(*sentences: str) -> str:
    blocks = []
    for words in sentences:
        rows = (f"{n}\t{word}\t_\tX\tT{n}\t_\t{n - 1}\tr\t_\t_\n" for n, word in enumerate(words.split(), 1))
        blocks.append("".join(rows))
    return "\n".join(blocks)


def write(folder: Path, text: str, trees: str) -> Path:
    (folder / "train.conllu").write_text(text)
    (folder / "train.trees").write_text(trees)
    return folder


def test_layers_are_named_as_the_card_says(tmp_path: Path) -> None:
    write(tmp_path, conllu("a b", "( x )"), "(S (A a) (B b))\n(S (L -LRB-) (X x) (R -RRB-))\n")
    first, second = read_split(card(), tmp_path, "train")
    assert first.layers["tag"] == ("T1", "T2") and set(first.layers) == {"tag", "tree"}
    assert second.words == ("(", "x", ")")  # escapes are the same word


def test_a_different_word_names_both_files_and_lines(tmp_path: Path) -> None:
    write(tmp_path, conllu("a b", "c d"), "(S (A a) (B b))\n(S (A c) (B x))\n")
    with pytest.raises(DataError) as caught:
        list(read_split(card(), tmp_path, "train"))
    assert caught.value.code == "E253"
    assert str(caught.value).startswith(
        f"{tmp_path}/train.conllu:4: error E253: word 2 is 'd', but 'x' at {tmp_path}/train.trees:2"
    )


def test_a_missing_word_is_found(tmp_path: Path) -> None:
    write(tmp_path, conllu("a b"), "(S (A a))\n")
    with pytest.raises(DataError, match="word 2 is 'b', but ''"):
        list(read_split(card(), tmp_path, "train"))


def test_a_missing_sentence_is_found(tmp_path: Path) -> None:
    write(tmp_path, conllu("a b", "c"), "(S (A a) (B b))\n")
    with pytest.raises(DataError) as caught:
        list(read_split(card(), tmp_path, "train"))
    assert (caught.value.code, caught.value.place.line) == ("E254", 4)  # type: ignore[union-attr]
    assert f"one more sentence than the 1 that end with {tmp_path}/train.trees" in str(caught.value)


def test_bad_sentences_are_dropped_from_all_files_and_counted(tmp_path: Path) -> None:
    text = conllu("a b", "c", "d", "e")
    text = text.replace("1\tc\t_\tX\tT1\t_\t0", "1\tc\t_\tX\tT1\t_\t9")
    write(tmp_path, text, "(S (A a) (B b))\n(S (C c))\n(S (D wrong))\n(S (E e))\n")
    dropped: list[DataError] = []
    found = list(read_split(card("drop"), tmp_path, "train", dropped))
    assert [s.words for s in found] == [("a", "b"), ("e",)]
    assert [defect.code for defect in dropped] == ["E216", "E253"]
    with pytest.raises(Problems) as caught:
        list(read_split(card(), tmp_path, "train"))
    assert [problem.code for problem in caught.value.problems] == ["E740", "E216", "E253"]


def test_a_layer_that_no_training_sentence_has_is_named(tmp_path: Path) -> None:
    write(tmp_path, "1\ta\t_\tX\tY\t_\t_\t_\t_\t_\n", "(S (A a))\n")
    with pytest.raises(DataError) as caught:
        list(read_split(card(tree2="dep"), tmp_path, "train"))
    expected = f"{tmp_path}/train.conllu: error E252: no sentence of the train files has 'dep' for layer 'tree2'"
    assert str(caught.value).startswith(expected)


def _rows(folder: Path, **reader: Any) -> DataCard:
    lines = {"train": '{"uid": 1, "txt": "a", "lab": "x"}', "dev": '{"uid": 2, "txt": "b", "lab": null}'}
    for split, line in {**lines, "test": lines["train"]}.items():
        (folder / f"{split}.jsonl").write_text(line + "\n")
    about = {"type": "jsonl", "text": ["txt"], "label": {"l": "lab"}, **reader}
    paths = {split: f"{split}.jsonl" for split in ("train", "dev", "test")}
    files = [{"reader": about, "paths": paths, "layers": {"l": "l"}}]
    return DataCard.model_validate(
        {"card": "data", "name": "c", "licence": "x", "source": "x", "root": "r", "files": files, "on_invalid": "drop"}
    )


@pytest.mark.parametrize(
    ("reader", "split", "expected"),
    [
        ({"text": ["text"]}, "train", "train.jsonl: error E738: the file has no field 'text'; did you mean 'txt'?"),
        ({"id": "uu"}, "train", "train.jsonl: error E738: the file has no field 'uu'; known: lab, txt, uid"),
        (
            {"label": {"l": "lba"}},
            "train",
            "train.jsonl: error E252: no sentence of the train files has 'l' for layer 'l'; "
            "correct `label: {l: lba}` of the reader, or leave the layer out",
        ),
        (
            {},
            "dev",
            "dev.jsonl: error E252: no sentence of the dev files has 'l' for layer 'l'; "
            "correct `label: {l: lab}` of the reader, hold dev out with `hold_out`, or leave the layer out",
        ),
    ],
)
def test_a_field_that_no_row_has_is_named(tmp_path: Path, reader: dict[str, Any], split: str, expected: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_split(_rows(tmp_path, **reader), tmp_path, split))
    assert str(caught.value) == f"{tmp_path}/{expected}"


@pytest.mark.parametrize(("empty", "full"), [("conllu", "trees"), ("trees", "conllu")])
def test_an_empty_file_among_aligned_ones_is_the_one_that_is_named(tmp_path: Path, empty: str, full: str) -> None:
    write(tmp_path, conllu("a b"), "(S (A a) (B b))\n")
    (tmp_path / f"train.{empty}").write_text("\n")
    with pytest.raises(DataError) as caught:
        list(read_split(card(), tmp_path, "train"))
    expected = f"{tmp_path}/train.{empty}: error E257: this file has no sentences, but {tmp_path}/train.{full} has some"
    assert str(caught.value).startswith(expected)


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "\n\n", "")
    with pytest.raises(DataError, match="no sentences"):
        list(read_split(card(), tmp_path, "train"))
