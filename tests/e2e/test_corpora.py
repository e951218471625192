"""One spec on four corpora: words, pairs of sentences, numbers, and a corpus of which half is labelled."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.e2e.study import Study

SPEC = """\
mtlspec: 1
name: small
data: {mini: mini, half: half, pairs: pairs, likeness: likeness}
encoder: {card: micro, data: mini}
tasks:
  pos: {type: tagging, layer: xpos, data: mini}
  ner: {type: tagging, layer: ner, data: mini}
  half: {type: tagging, layer: tag}
  pairs: {type: classification, layer: same}
  likeness: {type: regression, layer: score}
train: {epochs: 1, batch: {sentences: 16, tokens: 1600}}
seeds: [1]
models:
  stl: {tasks: each, sharing: hard}
  pair: {tasks: pairs, sharing: hard}
  mtl: {tasks: all, sharing: hard}
analyses:
  scores: {type: score_matrix, rounds: 100}
"""

TABLE = """\
card: data
name: {name}
licence: CC0-1.0
source: made for the tests
root: corpora/{name}
files:
- reader: {{type: table, {columns}}}
  paths: {{train: train.tsv, dev: dev.tsv, test: test.tsv{further}}}
  layers: {{{layers}}}
"""

WORDS = ("the dog sees a cat", "a cat sees the dog", "the man reads a book", "a book has the man", "the dog reads")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study.create(tmp_path_factory.mktemp("mixed") / "study", SPEC)
    write_table(study.root, "half", "words: words, tags: {tag: tag}", "tag: tag")
    write_table(study.root, "pairs", "text: [a, b], label: {same: same}", "same: same", "far")
    write_table(study.root, "likeness", "text: [a, b], value: {score: score}", "score: score")
    for card in ("half", "pairs", "likeness"):
        study.mtlspec("data", "lock", card)
    study.mtlspec("run", "small")
    return study


def write_table(root: Path, name: str, columns: str, layers: str, *further: str) -> None:
    """A card and its files: 60, 20 and 20 rows."""
    more = "".join(f", {split}: {split}.tsv" for split in further)
    card = TABLE.format(name=name, columns=columns, layers=layers, further=more)
    (root / f"registry/data/{name}.yaml").write_text(card)
    folder = root / "corpora" / name
    folder.mkdir(parents=True)
    for number, (split, size) in enumerate([("train", 60), ("dev", 20), ("test", 20), *((s, 12) for s in further)]):
        rng = random.Random(f"{name} {number}")
        rows = [_row(name, index, rng) for index in range(size)]
        header = "words\ttag" if name == "half" else f"a\tb\t{'same' if name == 'pairs' else 'score'}"
        (folder / f"{split}.tsv").write_text("\n".join([header, *rows]) + "\n")


def _row(name: str, index: int, rng: random.Random) -> str:
    one, other = rng.choice(WORDS), rng.choice(WORDS)
    if name == "half":
        tags = " ".join("D" if word in ("the", "a") else "X" for word in one.split())
        return f"{one}\t{tags if index % 2 else ''}"
    common = len(set(one.split()) & set(other.split()))
    target = ("yes" if common > 1 else "no") if name == "pairs" else f"{common + rng.random():.2f}"
    return f"{one}\t{other}\t{target}"


def test_every_model_of_every_corpus_has_scores(mixed: Study) -> None:
    record = json.loads((mixed.run / "record.json").read_bytes())
    assert record["missing"] == []
    assert len(record["models"]) == 5 + 10 + 1
    everything = next(model for model in record["models"] if model["name"] == "mtl-all")["scores"]
    assert {key.split("/")[1] for key in everything if key.startswith("test/")} == {
        "pos", "ner", "half", "pairs", "likeness", "mean",
    }  # fmt: skip
    assert "far/pairs/accuracy" in everything


def test_models_read_the_corpora_of_their_own_tasks(mixed: Study) -> None:
    stage = json.loads((mixed.run / "record.json").read_bytes())["stages"]
    assert set(stage["train-stl-likeness-s1"]["inputs"]) == {"encoder", "prepare-likeness"}
    assert stage["prepare-half-micro"]["facts"]["sentences"]["train"] == 60
    prepared = json.loads((mixed.run / "artifacts/prepare-half-micro/prepared.json").read_bytes())
    assert prepared["labelled"]["tag"] == {"train": 30, "dev": 10, "test": 10}


def test_an_edit_of_one_corpus_reruns_its_models_only(mixed: Study) -> None:
    card = mixed.root / "registry/data/likeness.yaml"
    before = card.read_text()
    try:
        card.write_text(before.replace("root:", "on_invalid: drop\nroot:"))
        plan = mixed.plan()
    finally:
        card.write_text(before)
    stale = {name for name, stage in plan.items() if stage["state"] != "cached"}
    trained = {name for name in plan if name.startswith("train-")}
    expected = {name for name in trained if "likeness" in name or "mtl-all" in name}
    assert stale & trained == expected


def test_the_report_shows_every_corpus(mixed: Study) -> None:
    page = (mixed.run / "artifacts/report/report.html").read_text()
    for corpus in ("mini", "half", "pairs", "likeness"):
        assert f"<h3>{corpus}</h3>" in page
    assert "Significance tests" in page
    tables = mixed.run / "artifacts/report/tables"
    rows = (tables / "labelled_examples.csv").read_text().splitlines()
    assert "half,half,tag,30,10,10,–" in rows
    assert "pairs on far (accuracy)" in (tables / "further-splits/further_splits.csv").read_text()


def test_the_record_holds(mixed: Study) -> None:
    assert "small: sealed, everything holds" in mixed.mtlspec("verify", "small").stdout
