"""Whole documents: each sentence and each word with its place, in bounded memory, whatever the file is like."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.cli.app import run as mtlspec
from mtlspec.errors import DataError
from mtlspec.use import documents
from mtlspec.use.documents import Extract, Sentences, sentences_in
from mtlspec.use.loaded import load_trained
from tests.unit.use.conftest import Trained

TEXT = "A title\r\n\r\nMr. Smith left. He\nwas\ttired.\n \t\n\n  Was he?\n- Yes.\rNo."


def _found(text: str | bytes, how: Sentences = "rules") -> list[Any]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(sentences_in(io.BytesIO(data), "d", how))


def _told(text: str | bytes, how: Sentences = "rules") -> list[tuple[str, int, int]]:
    """Text, paragraph and line of each sentence."""
    return [(one.texts[0], one.paragraph, one.place[1]) for one in _found(text, how)]


def test_what_ends_a_sentence_is_chosen() -> None:
    assert _told(TEXT) == [
        ("A title", 1, 1),
        ("Mr. Smith left.", 2, 3),
        ("He was tired.", 2, 3),
        ("Was he?", 3, 7),
        ("- Yes.", 3, 8),
        ("No.", 3, 9),
    ]
    lines = ["A title", "Mr. Smith left.", "He", "was tired.", "Was he?", "- Yes.", "No."]
    assert [one[0] for one in _told(TEXT, "lines")] == lines
    paragraphs = ["A title", "Mr. Smith left. He was tired.", "Was he? - Yes. No."]
    assert [one[0] for one in _told(TEXT, "paragraphs")] == paragraphs


def test_a_mark_at_the_beginning_of_a_file_is_no_character() -> None:
    (one,) = _found(b"\xef\xbb\xbfYes.\n")
    assert (one.texts, one.start) == (("Yes.",), 0)


@given(
    st.text(alphabet="aAI. \t\r\n?\"'。é1", max_size=150),
    st.sampled_from(["rules", "lines", "paragraphs"]),
    st.integers(1, 90),
)
def test_every_sentence_stands_where_it_says_however_the_file_comes(text: str, how: Sentences, piece: int) -> None:
    whole = _found(text, how)
    at = 0
    for number, one in enumerate(whole, 1):
        (own,) = one.texts
        assert [c if not c.isspace() else " " for c in text[one.start : one.start + len(own)]] == list(own)
        assert not text[at : one.start].strip() and one.id == str(number)
        assert one.place == ("d", 1 + len(text[: one.start].replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1)
        at = one.start + len(own)
    assert not text[at:].strip()
    before, documents._PIECE = documents._PIECE, piece
    try:
        assert _found(text, how) == whole
    finally:
        documents._PIECE = before


def test_lines_that_cannot_be_read_are_named_and_the_rest_keeps_its_places() -> None:
    text = b"One. Two\nthe caf\xe9 is\nThree.\nwith \0 in it\nFour. Fi\xc3\xa9. \xc3"
    found = _found(text)
    assert [str(one) for one in found if isinstance(one, DataError)] == [
        "d:2: error E531: not UTF-8: invalid continuation byte; save the file as UTF-8",
        "d:4: error E533: a line with a NUL byte; is this a text file?",
        "d:5: error E531: not UTF-8: unexpected end of data; is the file whole?",
    ]
    read = text.decode(errors="replace")
    extracts = [one for one in found if isinstance(one, Extract)]
    assert [one.texts[0] for one in extracts] == ["One.", "Two", "Three.", "Four.", "Fié."]
    assert [read.index(one.texts[0]) for one in extracts] == [one.start for one in extracts]
    assert [one.place[1] for one in extracts] == [1, 1, 3, 5, 5]


def test_a_document_of_100_000_words_streams() -> None:
    """In one line, with and without ends; all of it is never held."""

    class Endless(io.RawIOBase):
        def __init__(self, unit: bytes, size: int) -> None:
            self.left, self.unit = size, unit

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            size = min(len(buffer), self.left)
            buffer[:size] = (self.unit * (size // len(self.unit) + 1))[:size]
            self.left -= size
            return size

    unit = ("Anna sees the old house. " * 3277)[:8192].encode()
    read = io.BufferedReader(Endless(unit, 20_000_000))
    tracemalloc.start()
    count = sum(1 for _ in sentences_in(read, "d", "rules"))
    assert count > 700_000 and tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    endless = list(sentences_in(io.BufferedReader(Endless(b"word ", 5_000_000)), "d", "rules"))
    assert {str(one) for one in endless if isinstance(one, DataError)} == {
        "d:1: error E577: no sentence ends within 1,048,576 characters; is this a text?"
    }
    assert 3 <= len(endless) <= 5


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _lines(text: str) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, text.splitlines())


def test_documents_are_predicted_as_their_sentences_are(
    words: Trained, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "The cat doesn't see\nAcme Inc. now. Anna sleeps!\n\n\n\n“Well…” she said.\n"
    (folder / "a.txt").write_text(text)
    (folder / "b.txt").write_text("\n\nThe dog. The cat.\n")
    command = ["predict", str(words.train), "a.txt", "b.txt", "--input", "documents"]
    assert mtlspec(command) == 0
    found = list(_lines(capsys.readouterr().out))
    assert [(one["id"], one["place"], one["paragraph"]) for one in found] == [
        ("1", "a.txt:1", 1), ("2", "a.txt:2", 1), ("3", "a.txt:6", 2), ("1", "b.txt:3", 1), ("2", "b.txt:3", 1),
    ]  # fmt: skip
    for one in found[:3]:
        assert one["document"] == "a.txt" and text[one["start"] : one["end"]].replace("\n", " ") == one["text"]
        assert [text[start:end] for start, end in one["offsets"]] == one["words"]
    assert found[0]["words"] == ["The", "cat", "does", "n't", "see", "Acme", "Inc.", "now", "."]
    (folder / "lines.txt").write_text("".join(one["text"] + "\n" for one in found))
    assert mtlspec(["predict", str(words.train), "lines.txt"]) == 0
    assert [one["tasks"] for one in _lines(capsys.readouterr().out)] == [one["tasks"] for one in found]
    from_python = load_trained(words.train).predict([text], sentences="rules")
    assert [one["tasks"]["pos"] for one in from_python] == [one["tasks"]["pos"] for one in found[:3]]
    assert [one["document"] for one in from_python] == ["1", "1", "1"]


def test_a_long_document_and_windows(words: Trained, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """100,000 words in one line; in windows of any size the same."""
    draw = random.Random(0)
    sentences = [
        " ".join(draw.choices(["Anna", "sees", "the", "cat"], k=draw.randint(3, 60))) + "." for _ in range(3200)
    ]
    text = " ".join(sentences)
    assert len(text.split()) > 95_000
    (folder / "a.txt").write_text(text)
    command = ["predict", str(words.train), "a.txt", "--input", "documents", "--task", "pos"]
    assert mtlspec([*command, "-o", "out.jsonl"]) == 0
    found = list(_lines((folder / "out.jsonl").read_text()))
    assert [text[one["start"] : one["end"]] for one in found] == [one["text"] for one in found]
    assert sum(len(one["words"]) for one in found) == len(text.split()) + len(sentences)
    capsys.readouterr()


@pytest.mark.parametrize(
    ("text", "options", "code", "error"),
    [
        ("", [], 3, "a.txt: error E536: there are no sentences in the file"),
        (" \n\n \n", [], 3, "a.txt: error E536: there are no sentences in the file"),
        (b"caf\xe9", [], 3, "a.txt:1: error E531: not UTF-8: unexpected end of data; is the file whole?"),
        (
            "x" * 10_000,
            [],
            3,
            "a.txt:1: error E538: a word of 10,000 characters, at most 5,000 are read; is this text?",
        ),
        (
            "The cat. " * 2000,
            ["--sentences", "paragraphs"],
            3,
            "a.txt:1: error E537: 4,000 words in one example, at most 1,000 are read; "
            "name another way to find sentences (`--sentences`), or raise `--longest`",
        ),
        ("Yes.", ["--sentences", "all"], 2, None),
    ],
    ids=["empty", "blank", "not UTF-8", "long word", "long sentence", "unknown way"],
)
def test_documents_that_are_none(
    text: str | bytes,
    options: list[str],
    code: int,
    error: str | None,
    words: Trained,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / "a.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    command = ["predict", str(words.train), "a.txt", "--input", "documents", "-o", "out.jsonl", "--files", "out"]
    assert mtlspec([*command, *options]) == code
    captured = capsys.readouterr()
    assert error is None or captured.err.splitlines()[-1] == error
    assert captured.out == "" and [path.name for path in folder.iterdir()] == ["a.txt"]


def test_options_of_documents_are_of_documents(
    words: Trained, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.txt").write_text("Yes.")
    assert mtlspec(["predict", str(words.train), "a.txt", "--sentences", "lines"]) == 2
    assert capsys.readouterr().err == "--sentences: error E578: this is about documents; say `--input documents`\n"
    assert mtlspec(["predict", str(words.train), "a.txt", "--input", "documents", "--reader", "conllu"]) == 2
    assert capsys.readouterr().err == "--input, --reader: error E579: both say the format; name one\n"
