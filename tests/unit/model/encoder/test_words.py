"""Whole words as an encoder's vocabulary, and word vectors from a file: what is taken, and one line for what is not."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import EncoderError
from mtlspec.io.digest import digest_file
from mtlspec.model.encoder.kinds.birnn import Options
from mtlspec.model.encoder.request import Request
from mtlspec.model.encoder.sources.words import Options as Words
from mtlspec.model.encoder.word_table import UNKNOWN, WordTable
from mtlspec.model.encoder.word_vectors import read_vectors
from mtlspec.spec.cards import DataCard
from mtlspec.stages.context import silent

TRAIN = "The\tD\ncat\tN\nsat\tV\n\nthe\tD\nDog\tN\n-LRB-\tP\n\n"
TEST = "A\tD\ncow\tN\nsat\tV\nCAT\tN\n\n"
VECTORS = "the 1 2\ncow 3 4\ncat 5 6.5\nof 7 8\ncat 0 0\n"


def _card(name: str) -> DataCard:
    files = {"reader": {"type": "columns", "column": {"tag": 1}}, "layers": {"pos": "tag"}}
    paths = {split: split for split in ("train", "dev", "test")}
    card = {"card": "data", "name": name, "licence": "none", "source": "here", "root": name}
    return DataCard.model_validate({**card, "files": [{**files, "paths": paths}]})


def _fetch(
    root: Path, corpora: Mapping[str, tuple[str, str]] | None = None, **source: Any
) -> tuple[Path, dict[str, Any]]:
    """The directory that the source makes of small corpora (training text, test text), and its facts."""
    named = corpora or {"one": (TRAIN, TEST)}
    for name, (train, test) in named.items():
        (root / name).mkdir()
        for split in ("train", "dev", "test"):
            (root / name / split).write_text(train if split == "train" else test)
    out = root / "out"
    out.mkdir()
    inputs = {f"data-{name}": root / name for name in named}
    request = Request("small", out, root, inputs, None, "cpu", silent, data_cards={name: _card(name) for name in named})
    return out, Words.model_validate({"type": "words", **source}).fetch(request)


def _file(root: Path, content: str | bytes, name: str = "glove.txt") -> dict[str, str]:
    """The options that name a file of vectors."""
    (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return {"vectors": name, "sha256": digest_file(root / name)}


def _rows(directory: Path, *words: str) -> list[int]:
    tokenizer, table = WordTokenizer.load(directory), WordTable.read(directory)
    pieces = tokenizer.pieces(words)
    assert all(len(pieces[word]) == 1 for word in words)
    return [int(table.rows[pieces[word][0]]) for word in words]


def test_words_of_all_splits_are_entries_and_case_makes_no_other_vector(tmp_path: Path) -> None:
    out, facts = _fetch(tmp_path)
    the, upper, cat, shouted, cow, article, bracket = _rows(out, "the", "The", "cat", "CAT", "cow", "A", "-LRB-")
    assert the == upper != 0 and cat == shouted != 0 and the != cat
    assert cow == article == UNKNOWN, "no training split has them"
    assert bracket not in (UNKNOWN, the, cat), "it stands for a bracket"
    assert facts == {"words": {"train": 6, "all": 9}, "word vectors": {"learnt": 5, "of the file": 0}}
    assert WordTable.read(out).vectors is None


def test_case_counts_where_the_card_says_so(tmp_path: Path) -> None:
    out, _ = _fetch(tmp_path, lowercase=False)
    the, upper, shouted = _rows(out, "the", "The", "CAT")
    assert the != upper and shouted == UNKNOWN


def test_a_word_that_no_split_has_is_read_letter_by_letter(tmp_path: Path) -> None:
    out, _ = _fetch(tmp_path)
    tokenizer = WordTokenizer.load(out)
    pieces = tokenizer.pieces(["catwa", "\u4e2d"])
    assert len(pieces["catwa"]) == 3, "a word that it begins with, then letters"
    assert tokenizer.specials.unk not in pieces["catwa"]
    assert pieces["\u4e2d"] == (tokenizer.specials.unk,), "no word has this letter"


def test_words_come_from_all_corpora(tmp_path: Path) -> None:
    out, facts = _fetch(tmp_path, {"one": ("a\tX\n\n", "b\tX\n\n"), "two": ("b\tY\n\n", "c\tY\n\n")})
    assert facts["words"] == {"train": 2, "all": 3}
    a, b, c = _rows(out, "a", "b", "c")
    assert 0 not in (a, b) and c == UNKNOWN


@pytest.mark.parametrize("packed", [False, True])
def test_vectors_of_a_file_are_what_training_starts_from(packed: bool, tmp_path: Path) -> None:
    content = gzip.compress(VECTORS.encode(), mtime=0) if packed else VECTORS
    out, facts = _fetch(tmp_path, **_file(tmp_path, content, "glove.txt.gz" if packed else "glove.txt"))
    assert facts["word vectors"] == {"learnt": 3, "of the file": 3}
    the, cat, cow, sat = _rows(out, "The", "cat", "cow", "sat")
    assert cow != UNKNOWN, "no training split has it, and the file does"
    torch.manual_seed(1)
    weight = Options(type="birnn", card="small", word_size=2).build(out).words.weight
    assert [weight[row].tolist() for row in (the, cat, cow, UNKNOWN)] == [[1, 2], [5, 6.5], [3, 4], [0, 0]]
    assert (weight[sat] != 0).all() and (weight[sat].abs() <= 1.5**0.5).all()


def test_the_same_words_make_the_same_bytes(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        out, _ = _fetch(tmp_path / name, **_file(tmp_path / name, VECTORS))
        found.append({path.name: digest_file(path) for path in out.iterdir()})
    assert found[0] == found[1] and len(found[0]) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the 1 2\ncow 3\n", r"glove.txt:2.*E978: 1 numbers follow the word, and 2 should"),
        ("the\n", r"glove.txt:1.*E978: 0 numbers follow"),
        ("the 1 2\ncow 3 x\n", r"glove.txt:2.*E983: not a vector of numbers: 3 x"),
        ("the 1 nan\n", r"glove.txt:1.*E983"),
        (b"of 1 2\nth\xff 1 2\n", r"glove.txt:2.*E981: this line is not UTF-8"),
        ("", r"glove.txt.*E979: there are no word vectors"),
        ("of 1 2\n", r"E980: the file of word vectors has none of the words"),
    ],
)
def test_a_bad_file_of_vectors_is_one_line(content: str | bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(EncoderError) as caught:
        _fetch(tmp_path, **_file(tmp_path, content))
    assert re.search(message, str(caught.value)) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"vectors": "none.txt", "sha256": "0" * 64}, "none.txt.*E976: the file of word vectors is missing"),
        ({"vectors": "$NOWHERE_AT_ALL/x"}, "E975.*environment variable that is not set"),
        ({"vectors": "glove.txt"}, "glove.txt.*E977: the file of word vectors has no digest.*sha256: [0-9a-f]{64}"),
        ({"vectors": "glove.txt", "sha256": "0" * 64}, "glove.txt.*E322: the file is not the pinned one"),
    ],
)
def test_a_file_that_is_not_the_one_meant_is_one_line(source: dict[str, str], message: str, tmp_path: Path) -> None:
    _file(tmp_path, VECTORS)
    with pytest.raises(EncoderError) as caught:
        _fetch(tmp_path, **source)
    assert re.search(message, str(caught.value)) and "\n" not in str(caught.value)


def test_vectors_of_another_size_are_refused(tmp_path: Path) -> None:
    out, _ = _fetch(tmp_path, **_file(tmp_path, VECTORS))
    with pytest.raises(
        EncoderError, match=r"E974: the word vectors have 2 numbers, and `word_size` is 50.*word_size: 2"
    ):
        Options(type="birnn", card="small").build(out)


def test_a_header_and_words_with_blanks_are_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("2 3\n. . . 1 2 3\ncaf\u00e9 4 5 6 \n")
    found = read_vectors(tmp_path / "x", {". . .", "caf\u00e9"})
    assert {word: vector.tolist() for word, vector in found.items()} == {". . .": [1, 2, 3], "caf\u00e9": [4, 5, 6]}
