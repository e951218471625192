"""Tasks with corpora of their own: partial labels, further splits, and a test split without labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.data.sentence import Sentence
from mtlspec.errors import StageError
from mtlspec.results.evaluations import Evaluation, unscored_words
from mtlspec.results.history import read_epochs
from tests import toy


def _without(sentences: Sequence[Sentence], *layers: str) -> list[Sentence]:
    return [replace(s, layers={k: v for k, v in s.layers.items() if k not in layers}) for s in sentences]


def _half(sentences: Sequence[Sentence], layer: str) -> list[Sentence]:
    """Every second sentence lacks the layer."""
    return [_without([s], layer)[0] if number % 2 else s for number, s in enumerate(sentences)]


def _params(tasks: dict[str, dict[str, Any]], **train: Any) -> dict[str, Any]:
    return {**toy.train_params(**{"epochs": 1, **train}), "tasks": tasks}


POS = {"type": "tagging", "layer": "pos", "decoder": "linear"}
NER = {"type": "tagging", "layer": "ner", "decoder": "linear"}


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> tuple[Path, Any]:
    """`pos` learns from a corpus with a further split, `ner` from one whose test split has no labels."""
    root = tmp_path_factory.mktemp("corpora")
    further = {"train": toy.corpus(1, 40), "dev": toy.corpus(2, 10), "test": toy.corpus(3, 12), "far": toy.corpus(4, 9)}
    bare = {"train": toy.corpus(5, 30), "dev": toy.corpus(6, 8), "test": _without(toy.corpus(7, 11), "ner")}
    corpora = {
        "one": toy.write_prepared(root / "one", toy_encoder, further),
        "two": toy.write_prepared(root / "two", toy_encoder, bare),
    }
    params = _params({"pos": {**POS, "data": "one"}, "ner": {**NER, "data": "two"}})
    toy.run_train(root / "train", toy_encoder, corpora, params)
    return root / "evaluate/out", toy.run_evaluate(root / "evaluate", root / "train/out", corpora)


def test_further_splits_are_scored_and_written_under_their_names(evaluated: tuple[Path, Any]) -> None:
    out, result = evaluated
    scores = json.loads((out / "scores.json").read_bytes())
    assert {"dev", "test", "far"} <= scores["pos"].keys()
    with np.load(out / "counts.npz", allow_pickle=False) as counts:
        assert {name: len(rows) for name, rows in counts.items()} == {"pos": 12, "far/pos": 9}
        correct, words = counts["far/pos"].sum(0)
    assert scores["pos"]["far"]["accuracy"] == result.scores["far/pos/accuracy"] == pytest.approx(100 * correct / words)
    assert (out / "predictions/far/pos.tsv").read_text().count("\n\n") == 9
    assert "far/mean" not in result.scores  # of one task of two


def test_a_test_split_without_labels_is_predicted_and_not_scored(evaluated: tuple[Path, Any]) -> None:
    out, result = evaluated
    scores = json.loads((out / "scores.json").read_bytes())
    assert "test" not in scores["ner"] and "dev" in scores["ner"] and scores["ner"]["labels"] == {}
    assert not [name for name in result.scores if name.startswith("test/ner")]
    assert "test/mean" not in result.scores and "dev/mean" in result.scores
    blocks = (out / "predictions/ner.tsv").read_text().strip().split("\n\n")
    assert len(blocks) == 11
    assert all(line.split("\t")[-1] for block in blocks for line in block.split("\n"))


def test_a_task_needs_labelled_examples_to_train_and_to_choose(tmp_path: Path, toy_encoder: Path) -> None:
    splits = {"train": toy.corpus(1, 10), "dev": _without(toy.corpus(2, 5), "ner"), "test": toy.corpus(3, 5)}
    prepared = toy.write_prepared(tmp_path / "prepared", toy_encoder, splits)
    with pytest.raises(StageError, match="E480: no example of the dev split carries the layer 'ner' of task 'ner'"):
        toy.run_train(tmp_path, toy_encoder, prepared, _params({"ner": NER}))


def _of_one_size(sentences: Sequence[Sentence]) -> list[Sentence]:
    return [replace(s, layers={**s.layers, "size": 3.0}) for s in sentences]


def test_constant_gold_of_dev_chooses_nothing_and_of_test_has_no_score(tmp_path: Path, toy_encoder: Path) -> None:
    tasks = {"pos": POS, "size": {"type": "regression", "layer": "size"}}
    splits = {"train": toy.corpus(1, 20), "dev": _of_one_size(toy.corpus(2, 5)), "test": _of_one_size(toy.corpus(3, 5))}
    prepared = toy.write_prepared(tmp_path / "prepared", toy_encoder, splits)
    with pytest.raises(
        StageError, match=r"E414: task 'size': its dev split has constant gold, so no epoch has a score"
    ):
        toy.run_train(tmp_path / "best", toy_encoder, prepared, _params(tasks))
    toy.run_train(tmp_path / "last", toy_encoder, prepared, _params(tasks, keep="last"))
    result = toy.run_evaluate(tmp_path / "evaluate", tmp_path / "last/out", prepared)
    assert "test/pos/accuracy" in result.scores
    assert not [name for name in result.scores if name.startswith(("test/size", "test/mean"))]
    about = json.loads((tmp_path / "evaluate/out/scores.json").read_bytes())["size"]
    assert about["undefined"] == {"dev": "constant gold", "test": "constant gold"} and about.keys().isdisjoint(splits)
    assert "dev/pos/accuracy" in result.scores and not {"dev/size/pearson", "dev/mean"} & result.scores.keys()
    epochs = read_epochs(tmp_path / "last/out")
    assert [epoch.mean for epoch in epochs] == [None] * len(epochs) and "pos/accuracy" in epochs[0].scores
    found = Evaluation.read(tmp_path / "evaluate/out")
    assert (found.is_scored("size"), found.splits("size"), "size" in found.counts) == (False, (), False)
    assert unscored_words({"size": found.undefined("size")}) == "size is not defined on test (constant gold)"
    assert (tmp_path / "evaluate/out/predictions").is_dir()


def test_without_any_dev_score_training_goes_on_to_its_last_epoch(tmp_path: Path, toy_encoder: Path) -> None:
    splits = {"train": toy.corpus(1, 8), "dev": _of_one_size(toy.corpus(2, 3)), "test": toy.corpus(3, 3)}
    prepared = toy.write_prepared(tmp_path / "prepared", toy_encoder, splits)
    params = _params({"size": {"type": "regression", "layer": "size"}}, keep="last", epochs=3, patience=0.1)
    result = toy.run_train(tmp_path / "train", toy_encoder, prepared, params)
    epochs = read_epochs(tmp_path / "train/out")
    assert [(epoch.number, epoch.mean, epoch.best) for epoch in epochs] == [(n, None, True) for n in (1, 2, 3)]
    assert result.scores == {} and result.facts["best_epoch"] == 3


def test_unlabelled_sentences_are_as_if_they_were_not_there(tmp_path: Path, toy_encoder: Path) -> None:
    """A single-task model learns from its labelled sentences alone, to the bit."""
    whole = {"train": toy.corpus(1, 40), "dev": toy.corpus(2, 10), "test": toy.corpus(3, 12)}
    halves = {split: _half(sentences, "ner") for split, sentences in whole.items()}
    kept = {split: [s for s in sentences if "ner" in s.layers] for split, sentences in halves.items()}
    made = {}
    for name, splits in (("half", halves), ("kept", kept)):
        prepared = toy.write_prepared(tmp_path / name, toy_encoder, splits)
        toy.run_train(tmp_path / name / "train", toy_encoder, prepared, _params({"ner": NER}))
        toy.run_evaluate(tmp_path / name / "evaluate", tmp_path / name / "train/out", prepared)
        made[name] = tmp_path / name
    for file in ("train/out/model.safetensors", "train/out/epochs.json", "evaluate/out/scores.json"):
        assert (made["half"] / file).read_bytes() == (made["kept"] / file).read_bytes(), file
    with (
        np.load(made["half"] / "evaluate/out/counts.npz") as half,
        np.load(made["kept"] / "evaluate/out/counts.npz") as kept_,
    ):
        assert (half["ner"] == kept_["ner"]).all() and len(half["ner"]) == 6


def test_a_joint_model_learns_from_sentences_that_lack_a_layer(tmp_path: Path, toy_encoder: Path) -> None:
    splits = {
        "train": _half(toy.corpus(1, 40), "ner"),
        "dev": _half(toy.corpus(2, 10), "ner"),
        "test": toy.corpus(3, 12),
    }
    prepared = toy.write_prepared(tmp_path / "prepared", toy_encoder, splits)
    toy.run_train(tmp_path / "train", toy_encoder, prepared, _params({"pos": POS, "ner": NER}, batching="joint"))
    toy.run_evaluate(tmp_path / "evaluate", tmp_path / "train/out", prepared)
    with np.load(tmp_path / "evaluate/out/counts.npz") as counts:
        assert (len(counts["pos"]), len(counts["ner"])) == (12, 12)
