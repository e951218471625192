"""A sentence or a word may lack a layer: it is then not there, and nothing stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec.data import writers
from mtlspec.data.corpus import read_split
from mtlspec.data.readers import brackets, columns, conll2012, conllu
from mtlspec.errors import DataError
from mtlspec.spec.cards import DataCard
from tests.unit.data.malformed import line12, row


def card(*groups: dict[str, Any]) -> DataCard:
    about = {"card": "data", "name": "x", "licence": "x", "source": "x", "root": "."}
    return DataCard.model_validate({**about, "files": groups})


def test_an_underscore_of_conllu_is_no_tag(tmp_path: Path) -> None:
    file = tmp_path / "x"
    half = row(1).replace("X\tX", "X\t_") + row(2, 1)
    text = "# sent_id = 1\n" + half + "\n# sent_id = 2\n" + row(1).replace("X\tX", "_\t_") + "\n"
    file.write_text(text)
    first, second = conllu.Options(type="conllu").read(file)
    assert first.layers["upos"] == ("X", "X") and first.layers["xpos"] == (None, "X")
    assert first.layers["lemma"] == ("_", "_")  # these columns have `_` as a value
    assert not {"upos", "xpos"} & set(second.layers) and "dep" in second.layers
    assert writers.conllu([first, second]) == text


def test_a_tree_is_there_for_all_words_or_for_none(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text(row(1, "_", rel="_") + row(2, "_", rel="_"))
    (none,) = conllu.Options(type="conllu").read(file)
    assert "dep" not in none.layers
    file.write_text(row(1) + row(2, "_", rel="_"))
    with pytest.raises(DataError, match="E215: the head of word 2 is '_', not a number"):
        list(conllu.Options(type="conllu").read(file))


def test_columns_say_what_means_no_tag(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("a\tX\nb\t_\nc\t\n\nd\t_\n")
    first, second = columns.Options(type="columns", column={"t": 1}, delimiter="tab").read(file)
    assert first.layers == {"t": ("X", None, None)} and second.layers == {}
    first, second = columns.Options(type="columns", column={"t": 1}, delimiter="tab", missing=("",)).read(file)
    assert first.layers == {"t": ("X", "_", None)} and second.layers == {"t": ("_",)}


def test_spans_are_checked_around_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "x"

    def read(tags: str, scheme: str, convert: str | None = None) -> Any:
        file.write_text("".join(f"w {tag}\n" for tag in tags.split()))
        options = columns.Options(type="columns", column={"t": 1}, spans={"t": scheme}, convert=convert)
        return next(options.read(file)).layers["t"]

    assert read("_ I-X B-X _ O", "iob2") == (None, "I-X", "B-X", None, "O")
    assert read("B-X _ E-X S-X", "iobes") == ("B-X", None, "E-X", "S-X")
    assert read("I-X _ I-X", "iob1") == ("B-X", None, "I-X")
    assert read("B-X I-X _ B-X", "iob2", "iobes") == ("B-X", "E-X", None, "S-X")
    with pytest.raises(DataError, match="E245: 'I-Y' continues no Y span"):
        read("_ B-X I-Y", "iob2")


def test_columns_of_2012_without_anything_and_sentences_without_a_tree(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text(line12(0, parse="(A*)") + "\n" + line12(0) + "\n" + line12(0, parse="-", entity="-"))
    whole, flat, bare = conll2012.Options(type="conll2012").read(file)
    assert set(whole.layers) == {"pos", "con", "ner", "srl"}
    assert set(flat.layers) == {"pos", "ner", "srl"} and set(bare.layers) == {"pos", "srl"}


@pytest.mark.parametrize("empty", ["()", "(())", "( ( ) )"])
def test_an_empty_tree_is_a_sentence_without_one(empty: str, tmp_path: Path) -> None:
    (tmp_path / "trees").write_text(f"(S (A a))\n{empty}\n")
    (tmp_path / "tags").write_text("a X\n\nb X\n")
    trees = {"reader": "brackets", "paths": {"train": "trees"}, "layers": {"con": "con"}}
    tags = {"reader": {"type": "columns", "column": {"t": 1}}, "paths": {"train": "tags"}, "layers": {"t": "t"}}
    for groups in ((trees, tags), (tags, trees)):
        first, second = read_split(card(*groups), tmp_path, "train")
        assert set(first.layers) == {"con", "t"} and second.words == ("b",) and set(second.layers) == {"t"}
    with pytest.raises(DataError) as caught:
        list(read_split(card(trees), tmp_path, "train"))
    assert str(caught.value) == (
        f"{tmp_path}/trees:2: error E298: a sentence without words; "
        "another file must have the words of a sentence without a tree, "
        "or leave such sentences out with `on_invalid: drop` in the card"
    )
    assert [s.words for s in brackets.Options(type="brackets").read(tmp_path / "trees")] == [("a",), ()]


def test_an_unlabelled_split_has_no_layers(tmp_path: Path) -> None:
    for name in ("train", "test"):
        (tmp_path / name).write_text("a X\n")
    group = {
        "reader": {"type": "columns", "column": {"t": 1}},
        "paths": {"train": "train", "test": "test", "more": "test"},
        "layers": {"t": "t"},
        "unlabelled": ["test"],
    }
    (train,), (test,), (more,) = (read_split(card(group), tmp_path, split) for split in ("train", "test", "more"))
    assert train.layers == more.layers == {"t": ("X",)} and test.layers == {} and test.words == ("a",)
    assert card(group).splits == ("train", "dev", "test", "more")


def test_a_split_may_have_a_reader_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "train").write_text("a X\n")
    (tmp_path / "test").write_text("Y;a\n")
    group = {
        "reader": {"type": "columns", "column": {"t": 1}},
        "paths": {"train": "train", "test": "test"},
        "layers": {"t": "t"},
        "readers": {"test": {"type": "columns", "delimiter": ";", "word": 1, "column": {"t": 0}}},
    }
    (train,), (test,) = (read_split(card(group), tmp_path, split) for split in ("train", "test"))
    assert train.words == test.words and test.layers == {"t": ("Y",)}
