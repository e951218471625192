"""The English Web Treebank with five layers, as it was published; MTLSPEC_DATA names the folder that has `ewt5/`."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data import writers
from mtlspec.data.corpus import read_split
from mtlspec.data.pins import check_pins, resolve_root
from mtlspec.data.readers import brackets, columns, conll2012, conllu
from mtlspec.data.sentence import Sentence
from mtlspec.io.project import Project
from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.attachment import Attachment, GoldTree, punctuation
from mtlspec.metrics.brackets import BracketF1
from mtlspec.metrics.entities import EntityF1
from mtlspec.metrics.roles import RoleF1
from mtlspec.metrics.schemes import spans_of
from mtlspec.metrics.spans import SpanF1
from mtlspec.spec.cards import DataCard
from mtlspec.spec.load import load_data_card

pytestmark = pytest.mark.realdata
ROOT = Path(__file__).parents[3]
SIZES = {"ewt5": (2180, 750, 729), "ewt5_full": (12523, 1968, 2058)}
FORMATS = ("conllu", "trees", "srl.conll12", "ner.conll")


@pytest.fixture(autouse=True)
def data() -> None:
    if not os.environ.get("MTLSPEC_DATA"):
        pytest.fail("set MTLSPEC_DATA to the folder that has ewt5/")


def card(name: str) -> tuple[DataCard, Path]:
    project = Project(ROOT)
    loaded = load_data_card(name, project)
    return loaded, resolve_root(loaded, project)


def written(file: Path) -> str:
    """A file, read and written again."""
    name = file.name.removesuffix(".gz")
    if name.endswith(".conllu"):
        return writers.conllu(conllu.Options(type="conllu").read(file))
    if name.endswith(".trees"):
        return writers.brackets(brackets.Options(type="brackets").read(file))
    if name.endswith(".conll12"):
        return writers.conll2012(conll2012.Options(type="conll2012").read(file), "none")
    options = columns.Options(type="columns", column={"xpos": 1, "_": 2, "ner": 3}, spans={"ner": "iob2"})
    return writers.columns(options.read(file), ("xpos", "_", "ner"), " ")


@pytest.mark.parametrize("name", SIZES)
def test_the_files_are_those_of_the_card(name: str) -> None:
    loaded, root = card(name)
    check_pins(loaded, root, Path(f"{name}.yaml"))
    assert len(loaded.sha256) == 12


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("name", SIZES)
def test_every_file_comes_back_byte_for_byte(name: str, ending: str) -> None:
    loaded, root = card(name)
    files = [root / path for path in loaded.paths if path.removesuffix(".gz").endswith(ending)]
    assert len(files) == 3
    for file in files:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        assert written(file) == raw.decode(), file.name


@pytest.mark.parametrize("name", SIZES)
def test_four_aligned_formats_are_read_and_agree(name: str) -> None:
    loaded, root = card(name)
    groups = [
        group.model_copy(update={"layers": {"srl": "srl", "con_bits": "con", "ner_bits": "ner", "pos_bits": "pos"}})
        if group.reader.type == "conll2012"
        else group
        for group in loaded.files
    ]
    both = loaded.model_copy(update={"files": tuple(groups)})
    for split, size in zip(("train", "dev", "test"), SIZES[name], strict=True):
        sentences = list(read_split(both, root, split))  # type: ignore[arg-type]
        assert len(sentences) == size
        for sentence in sentences:
            assert sentence.layers["con"] == sentence.layers["con_bits"]
            assert sentence.layers["ner"] == sentence.layers["ner_bits"]
            assert sentence.layers["con"].pos == sentence.layers["pos_bits"]  # type: ignore[union-attr]


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_gold_against_gold_is_a_hundred_in_every_layer(split: str) -> None:
    loaded, root = card("ewt5_full")
    sentences = list(read_split(loaded, root, split))  # type: ignore[arg-type]
    for metric, gold, predicted in _judged(sentences):
        totals = metric.counts(gold, predicted).sum(0)
        scores = metric.scores(totals)
        assert {name: float(score) for name, score in scores.items()} == dict.fromkeys(scores, 100.0)
        assert all(row["f1"] == 100.0 for row in metric.label_scores(gold, predicted).values() if "f1" in row)


def _judged(sentences: list[Sentence]) -> list[tuple[Any, Any, Any]]:
    """Each metric with gold values and equal predictions, as the tasks give them."""
    layers: dict[str, list[Any]] = {name: [s.layers[name] for s in sentences] for name in sentences[0].layers}
    entities = [spans_of(tags, "bio") for tags in layers["ner"]]
    trees = [
        GoldTree(tree.heads, tree.rels, punctuation("unicode_p", sentence.words))
        for sentence, tree in zip(sentences, layers["dep"], strict=True)
    ]
    assert any(entities) and any(layers["srl"])
    return [
        (TagAccuracy(), layers["upos"], layers["upos"]),
        (TagAccuracy(), layers["xpos"], layers["xpos"]),
        (SpanF1("bio"), layers["ner"], layers["ner"]),
        (EntityF1(), entities, entities),
        (Attachment("unicode_p"), trees, layers["dep"]),
        (BracketF1(), layers["con"], layers["con"]),
        (RoleF1(), layers["srl"], layers["srl"]),
    ]


def test_two_column_files_come_back_byte_for_byte() -> None:
    files = sorted((Path(os.environ["MTLSPEC_DATA"]) / "tagging").glob("*.conll"))
    assert len(files) == 36
    options = columns.Options(type="columns", column={"tag": 1}, delimiter="tab")
    for file in files:
        assert writers.columns(options.read(file), ("tag",)) == file.read_text("utf-8"), file.name
