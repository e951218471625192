"""Whatever the bytes, a guess or one line; and files as they are published, guessed right."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mtlspec.data.guess.card import GuessedCard, corpus_folder, guess_card
from mtlspec.data.guess.text import card_text, spec_text
from mtlspec.errors import MtlspecError

REAL = Path(os.environ.get("MTLSPEC_DATA", "nowhere"))


def _guessed(path: Path) -> GuessedCard:
    return guess_card(path, "x", "r", corpus_folder(path))


SIGNS = st.text(st.sampled_from('\t\n\r ,;|"\\{}[]()*_-:.#01aOB\ufeff\u2028\x1b'), max_size=200)
OBJECTS = st.dictionaries(
    st.sampled_from(["text", "label", "id", "tokens", "x"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=5,
    ),
)


@settings(max_examples=150)
@given(
    content=st.one_of(
        st.binary(max_size=300),
        SIGNS.map(str.encode),
        st.lists(OBJECTS, max_size=6).map(lambda objects: "\n".join(map(json.dumps, objects)).encode()),
        st.lists(OBJECTS, max_size=6).map(lambda objects: json.dumps({"data": objects}).encode()),
    )
)
@example(content=b"")
@example(content=b"PAR1")
@example(content=b"ARROW1\0\0")
@example(content=b"\xff\xff\xff\xff\0\0")
@example(content=b"[" * 100_000)
def test_any_bytes_give_a_guess_or_one_line(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("train.tsv", "dev.tsv", "train.json.gz"):
            (Path(folder) / name).write_bytes(content)
        for name in ("train.tsv", "train.json.gz"):
            try:
                found = _guessed(Path(folder) / name)
            except MtlspecError as error:
                assert all("\n" not in str(problem) for problem in error.problems)
            else:
                assert spec_text(found, "tiny", {}) and card_text(found.values)


EXPECTED: dict[str, tuple[str, Any, Any]] = {
    "ewt5/small/ewt5-small.train.conllu": ("conllu", None, ["upos", "xpos", "dep"]),
    "ewt5/full/ewt5.dev.ner.conll.gz": ("columns", None, ["xpos", "ner"]),
    "ewt5/small/ewt5-small.test.trees": ("brackets", None, ["con", "pos"]),
    "ewt5/small/ewt5-small.train.srl.conll12": ("conll2012", None, ["pos", "con", "ner", "srl"]),
    "tagging/chunk.train.conll": ("columns", None, ["chunk"]),
    "tagging/com.dev.conll": ("columns", None, ["x"]),
    "glue/CoLA/train.tsv": ("table", [3], {"label": 1}),
    "glue/RTE/train.tsv": ("table", ["sentence1", "sentence2"], {"label": "label"}),
    "glue/MRPC/train.tsv": ("table", ["#1 String", "#2 String"], {"quality": "Quality"}),
    "glue/STS-B/train.tsv": ("table", ["sentence1", "sentence2"], {"score": "score"}),
    "glue/SST-2/stsa.binary.train": ("table", [1], {"label": 0}),
    "glue/AGNews/test.csv": ("table", [1, 2], {"label": 0}),
    "glue_tiny/MNLI/train.tsv": ("table", ["sentence1", "sentence2"], {"gold_label": "gold_label"}),
    "nli/sick/SICK_train.txt": ("table", ["sentence_A", "sentence_B"], {"entailment_judgment": "entailment_judgment"}),
    "nli/scitail/dev.re2.txt": ("table", [0, 1], {"label": 2}),
    "nli/snli/snli_1.0_dev.jsonl": ("jsonl", ["sentence1", "sentence2"], {"gold_label": "gold_label"}),
    "sentiment/uci/imdb_labelled.txt": ("table", [0], {"label": 1}),
    "superglue/BoolQ/train.fewglue32.jsonl": ("jsonl", ["question", "passage"], {"label": "label"}),
    "superglue/CB/train.jsonl": ("jsonl", ["premise", "hypothesis"], {"label": "label"}),
    "superglue/WiC/val.jsonl": ("jsonl", ["sentence1", "sentence2"], {"label": "label"}),
}


@pytest.mark.realdata
@pytest.mark.skipif(not REAL.is_dir(), reason="MTLSPEC_DATA names no folder")
@pytest.mark.parametrize("name", EXPECTED)
def test_real_files_are_guessed(name: str) -> None:
    type_, text, layers = EXPECTED[name]
    found = _guessed(REAL / name)
    assert found.reading.reader["type"] == type_ and not found.malformed
    if text is None:
        assert list(found.reading.layers) == layers
    else:
        options = found.reading.reader
        assert options["text"] == text and layers in (options.get("label"), options.get("value"))
