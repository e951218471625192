"""The English Web Treebank with five layers, as it was published; MTLSPEC_DATA names the folder that has `ewt5/`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mtlspec.data import writers
from mtlspec.data.corpus import read_split
from mtlspec.data.readers import brackets, columns, conll2012, conllu
from mtlspec.spec.cards import DataCard

pytestmark = pytest.mark.realdata
SIZES = {"small": (2180, 750, 729), "full": (12523, 1968, 2058)}


def folder(part: str) -> Path:
    root = os.environ.get("MTLSPEC_DATA")
    if not root:
        pytest.fail("set MTLSPEC_DATA to the folder that has ewt5/")
    return Path(root) / "ewt5" / part


def card(part: str) -> DataCard:
    stem, ending = ("ewt5-small", "") if part == "small" else ("ewt5", ".gz")

    def group(reader: object, name: str, **layers: str) -> dict[str, object]:
        paths = {split: f"{stem}.{split}.{name}{ending}" for split in ("train", "dev", "test")}
        return {"reader": reader, "paths": paths, "layers": layers}

    files = [
        group("conllu", "conllu", upos="upos", xpos="xpos", dep="dep"),
        group("brackets", "trees", con="con"),
        group("conll2012", "srl.conll12", con_bits="con", ner_bits="ner", srl="srl"),
        group({"type": "columns", "column": {"ner": 3}, "spans": {"ner": "iob2"}}, "ner.conll", ner="ner"),
    ]
    return DataCard.model_validate(
        {"card": "data", "name": "ewt", "licence": "CC-BY-SA-4.0", "source": "x", "root": "x", "files": files}
    )


@pytest.mark.parametrize("part", SIZES)
def test_four_aligned_formats_are_read_and_agree(part: str) -> None:
    for split, size in zip(("train", "dev", "test"), SIZES[part], strict=True):
        sentences = list(read_split(card(part), folder(part), split))  # type: ignore[arg-type]
        assert len(sentences) == size
        for sentence in sentences:
            assert sentence.layers["con"] == sentence.layers["con_bits"]
            assert sentence.layers["ner"] == sentence.layers["ner_bits"]


def test_real_files_survive_a_round_trip(tmp_path: Path) -> None:
    cases = (
        (conllu, conllu.Options(type="conllu"), "conllu", writers.conllu),
        (brackets, brackets.Options(type="brackets"), "trees", writers.brackets),
        (conll2012, conll2012.Options(type="conll2012"), "srl.conll12", lambda s: writers.conll2012(s, "doc")),
        (
            columns,
            columns.Options(type="columns", column={"ner": -1}, spans={"ner": "iob2"}),
            "ner.conll",
            lambda s: writers.columns(s, ("ner",), " "),
        ),
    )
    for module, options, ending, write in cases:
        given = list(module.read(options, folder("small") / f"ewt5-small.dev.{ending}"))
        file = tmp_path / ending
        file.write_text(write(given), "utf-8")
        found = list(module.read(options, file))
        assert [(s.words, s.layers) for s in found] == [(s.words, s.layers) for s in given]


def test_brackets_are_written_byte_for_byte() -> None:
    file = folder("small") / "ewt5-small.train.trees"
    sentences = brackets.read(brackets.Options(type="brackets"), file)
    assert writers.brackets(sentences) == file.read_text("utf-8")
