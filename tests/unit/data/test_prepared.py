"""Prepared data: bytes that do not change, readable by `datasets`, equal to what was read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import datasets
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.data.prepare import write_prepared
from mtlspec.data.prepared import Prepared, PreparedSplit
from mtlspec.data.sentence import ConTree, DepTree, Frame, Sentence
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import DataError
from mtlspec.io.digest import digest_tree
from tests.unit.data.strategies import partial_sentences, sentences

KINDS = {"upos": "tags", "dep": "dep", "con": "con", "ner": "tags", "srl": "srl"}


@pytest.fixture(scope="module")
def tokenizer(toy_encoder: Path) -> WordTokenizer:
    return WordTokenizer.load(toy_encoder)


@pytest.fixture(scope="module")
def prepared(
    mini: dict[str, list[Sentence]], tokenizer: WordTokenizer, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("prepared")
    write_prepared(mini, tokenizer, out, KINDS)
    return out


def test_all_layers_come_back(prepared: Path, mini: dict[str, list[Sentence]]) -> None:
    loaded = Prepared.load(prepared)
    for split in ("train", "dev", "test"):
        found, given_ = loaded.split(split), mini[split]  # type: ignore[arg-type]
        assert len(found) == len(given_)
        for layer in KINDS:
            assert found.values(layer) == [sentence.layers[layer] for sentence in given_]
        assert found.strings("upos") == [list(sentence.layers["upos"]) for sentence in given_]  # type: ignore[arg-type]
        assert found.words(17) == list(given_[17].words)


@settings(max_examples=25)
@given(given_=st.lists(sentences(), max_size=5))
def test_any_sentences_come_back(
    given_: list[Sentence], tokenizer: WordTokenizer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("any")
    write_prepared({"train": given_, "dev": given_[:1], "test": []}, tokenizer, out, KINDS)
    loaded = Prepared.load(out)
    for layer in KINDS:
        assert loaded.train.values(layer) == [sentence.layers[layer] for sentence in given_]
    assert len(loaded.test) == 0


def test_tensors_have_the_offsets_of_a_plain_loop(prepared: Path) -> None:
    split = PreparedSplit.load(prepared, "train")  # more rows than one Arrow batch holds
    pieces = split.column("pieces").to_pylist()
    assert split.column("pieces").num_chunks > 1
    assert split.pieces.tolist() == [piece for row in pieces for piece in row]
    assert split.piece_counts.tolist() == [len(row) for row in pieces]
    offsets = [0]
    for row in pieces:
        offsets.append(offsets[-1] + len(row))
    assert split.piece_offsets.tolist() == offsets
    counts = split.column("word_pieces").to_pylist()
    assert split.word_counts.tolist() == [len(row) for row in counts]
    assert all(sum(words) == len(row) and min(words) >= 1 for words, row in zip(counts, pieces, strict=True))
    heads, head_offsets = split.flat("dep.heads")
    assert heads[head_offsets[5] : head_offsets[6]].tolist() == split.column("dep.heads")[5].as_py()


def test_datasets_opens_the_files(prepared: Path, mini: dict[str, list[Sentence]]) -> None:
    dataset = datasets.Dataset.from_file(str(prepared / "dev.arrow"))
    assert dataset.num_rows == 500
    assert dataset[3]["words"] == list(mini["dev"][3].words)
    assert dataset.features["dep.heads"].feature.dtype == "int32"


def test_labels_are_counted_over_train_and_new_ones_named(tokenizer: WordTokenizer, tmp_path: Path) -> None:
    def tagged(*tags: str) -> Sentence:
        return Sentence("1", ("w",) * len(tags), {"t": tags})

    write_prepared(
        {"train": [tagged("A", "B"), tagged("A")], "dev": [tagged("C")], "test": [tagged("A", "D")]},
        tokenizer,
        tmp_path,
    )
    loaded = Prepared.load(tmp_path)
    assert loaded.labels == {"t": {"A": 2, "B": 1}}
    assert loaded.unseen == {"t": ["C", "D"]}
    about = json.loads((tmp_path / "prepared.json").read_text())
    assert about["layers"] == {"t": "tags"} and about["sizes"] == {"train": 2, "dev": 1, "test": 1}


def test_the_same_sentences_give_the_same_bytes_in_another_process(
    prepared: Path, toy_encoder: Path, tmp_path: Path
) -> None:
    code = (
        "from pathlib import Path; from mtlspec.data.generators.english_mini import Options, corpus;"
        "from mtlspec.data.prepare import write_prepared; from mtlspec.data.tokenizer import WordTokenizer;"
        f"write_prepared(dict(corpus(Options(type='english_mini'))), WordTokenizer.load(Path({str(toy_encoder)!r})),"
        f" Path({str(tmp_path)!r}), {KINDS!r})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONHASHSEED": "77", "OMP_NUM_THREADS": "1"})
    assert digest_tree(tmp_path) == digest_tree(prepared)


def test_missing_things_are_named(prepared: Path, tokenizer: WordTokenizer, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no prepared\\.json"):
        Prepared.load(tmp_path)
    with pytest.raises(DataError, match="the prepared split is missing"):
        PreparedSplit.load(tmp_path, "train")
    with pytest.raises(DataError, match="have no column 'nope'"):
        PreparedSplit.load(prepared, "dev").column("nope")


def test_a_layer_that_does_not_fit_its_sentence_is_named(tokenizer: WordTokenizer, tmp_path: Path) -> None:
    place = ("a.x", 3)
    for sentence, kinds, said in (
        (Sentence("1", ("w",), {"t": ("A", "B")}, place), {"t": "tags"}, "2 tags for 1 words"),
        (Sentence("1", ("w",), {"t": DepTree((0, 1), ("r", "r"))}, place), {"t": "dep"}, "2 heads for 1 words"),
        (Sentence("1", ("w",), {"t": ConTree((), ("A", "B"))}, place), {"t": "con"}, "a tree over 2 words for 1"),
        (Sentence("1", ("w",), {"t": (Frame(1, "x", ()),)}, place), {"t": "srl"}, "ends at word 2 of 1"),
        (Sentence("1", ("w",), {"t": float("nan")}, place), {"t": "value"}, "nan is not a number to learn"),
        (Sentence("1", ("w",), {"t": 1e300}, place), {"t": "value"}, "1e.300 is not .* from -1e.290 to 1e.290; divide"),
        (Sentence("1", (), {"t": ("A",)}, place, texts=("w",)), {"t": "tags"}, "raw text has none"),
    ):
        with pytest.raises(DataError, match=rf"a\.x:3: error E273: layer 't' does not fit its sentence: .*{said}"):
            write_prepared({"train": [sentence]}, tokenizer, tmp_path, kinds)
    with pytest.raises(DataError, match="E278: no training example carries the layer 't'"):
        write_prepared({"train": [Sentence("1", ("w",), {})]}, tokenizer, tmp_path, {"t": "tags"})


@settings(max_examples=25)
@given(given_=st.lists(partial_sentences(), min_size=1, max_size=6))
def test_missing_layers_and_words_come_back_as_missing(
    given_: list[Sentence], tokenizer: WordTokenizer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("partial")
    whole = Sentence(
        "w", ("w",), {"upos": ("A",), "dep": DepTree((0,), ("r",)), "con": ConTree((), ("A",)), "ner": ("O",)}
    )
    layers = {**whole.layers, "srl": (), "about": "x", "size": 0.5}
    sentences = [*given_, Sentence("w", ("w",), layers)]
    kinds = {**KINDS, "about": "label", "size": "value"}
    write_prepared({"train": sentences, "dev": given_}, tokenizer, out, kinds)
    loaded = Prepared.load(out)
    for layer in kinds:
        assert loaded.train.values(layer) == [sentence.layers.get(layer) for sentence in sentences]
        rows = [row for row, sentence in enumerate(sentences) if layer in sentence.layers]
        assert loaded.train.labelled(layer).tolist() == rows
        about = json.loads((out / "prepared.json").read_text())
        assert about["labelled"][layer] == {"train": len(rows), "dev": len(rows) - 1}
    assert_tensors_know_what_is_missing(loaded, sentences)


def assert_tensors_know_what_is_missing(loaded: Prepared, sentences: list[Sentence]) -> None:
    tags = [list(sentence.layers.get("upos", ())) for sentence in sentences]
    known = sorted(loaded.labels["upos"])
    assert known == sorted({tag for row in tags for tag in row if tag is not None})
    codes, offsets = loaded.train.codes("upos", known), loaded.train.offsets("upos")
    for row, own in enumerate(tags):
        found = codes[offsets[row] : offsets[row + 1]].tolist()
        assert found == [known.index(tag) if tag is not None else -1 for tag in own]
    assert loaded.train.strings("upos") == tags
    heads, starts = loaded.train.flat("dep.heads")
    trees = [sentence.layers.get("dep") for sentence in sentences]
    assert [heads[starts[row] : starts[row + 1]].tolist() for row in range(len(trees))] == [
        list(tree.heads) if isinstance(tree, DepTree) else [] for tree in trees
    ]
    abouts = [sentence.layers.get("about") for sentence in sentences]
    assert loaded.train.codes("about", ["x"]).tolist() == [0 if about == "x" else -1 for about in abouts]
    numbers = loaded.train.numbers("size")
    assert numbers.isnan().tolist() == ["size" not in sentence.layers for sentence in sentences]
