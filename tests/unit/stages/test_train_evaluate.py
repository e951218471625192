"""Train and evaluate as stages: their artifacts, byte-stable, and the same predictions in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.data.prepared import Prepared
from mtlspec.io.digest import digest_tree
from mtlspec.model.multitask import load_model
from mtlspec.model.predict import predict
from mtlspec.spec.models import BatchLimits
from tests import toy


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Path:
    root = tmp_path_factory.mktemp("trained")
    toy.run_train(root, toy_encoder, toy_prepared, toy.train_params(epochs=2))
    return root / "out"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, trained: Path, toy_prepared: Path) -> tuple[Path, Any]:
    root = tmp_path_factory.mktemp("evaluated")
    return root / "out", toy.run_evaluate(root, trained, toy_prepared)


def test_scores_counts_and_predictions_agree(evaluated: tuple[Path, Any], toy_prepared: Path) -> None:
    out, result = evaluated
    scores = json.loads((out / "scores.json").read_bytes())
    with np.load(out / "counts.npz", allow_pickle=False) as file:
        counts = dict(file)
    assert scores.keys() == counts.keys() == {"pos", "ner"}
    assert scores["ner"]["columns"] == ["correct", "predicted", "gold"]
    assert (scores["ner"]["main"], scores["ner"]["layer"]) == ("f1", "ner")
    correct, predicted, gold = counts["ner"].sum(0)
    assert scores["ner"]["test"]["f1"] == pytest.approx(200 * correct / (predicted + gold))
    assert result.scores["test/ner/f1"] == scores["ner"]["test"]["f1"]
    mean = (scores["ner"]["test"]["f1"] + scores["pos"]["test"]["accuracy"]) / 2
    assert result.scores["test/mean"] == pytest.approx(mean)
    assert set(scores["ner"]["labels"]) == {"PER", "ORG"}
    test = Prepared.load(toy_prepared).test
    blocks = (out / "predictions/pos.tsv").read_text().split("\n\n")
    assert blocks.pop() == ""
    assert len(blocks) == len(test) == len(counts["pos"])
    right = 0
    for i, block in enumerate(blocks):
        words, gold_tags, predicted_tags = zip(*(line.split("\t") for line in block.split("\n")), strict=True)
        assert list(words) == test.words(i)
        assert list(gold_tags) == test.strings("pos")[i]
        right += sum(a == b for a, b in zip(gold_tags, predicted_tags, strict=True))
    assert right == counts["pos"].sum(0)[0]


def test_evaluating_again_gives_the_same_bytes(
    evaluated: tuple[Path, Any], tmp_path: Path, trained: Path, toy_prepared: Path
) -> None:
    toy.run_evaluate(tmp_path, trained, toy_prepared)
    assert digest_tree(tmp_path / "out") == digest_tree(evaluated[0])


def test_dev_scores_of_training_are_those_of_evaluation(evaluated: tuple[Path, Any], trained: Path) -> None:
    epochs = json.loads((trained / "epochs.json").read_bytes())
    best = max(epochs, key=lambda epoch: epoch["mean"])
    assert evaluated[1].scores["dev/mean"] == best["mean"]


def test_a_fresh_process_loads_the_model_and_predicts_the_same(trained: Path, toy_prepared: Path) -> None:
    script = """
import json, sys
from pathlib import Path
import torch
from mtlspec.data.prepared import PreparedSplit
from mtlspec.model.multitask import load_model
from mtlspec.model.predict import predict
from mtlspec.spec.models import BatchLimits
torch.set_num_threads(1)
model = load_model(Path(sys.argv[1]))
print(json.dumps(predict(model, PreparedSplit.load(Path(sys.argv[2]), "test"), BatchLimits())))
"""
    command = [sys.executable, "-W", "error", "-c", script, str(trained), str(toy_prepared)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    here = load_model(trained)
    assert not here.module.training
    assert predict(here, Prepared.load(toy_prepared).test, BatchLimits()) == found


def test_predictions_do_not_depend_on_the_batches(trained: Path, toy_prepared: Path) -> None:
    model, test = load_model(trained), Prepared.load(toy_prepared).test
    one = predict(model, test, BatchLimits(sentences=1))
    assert one == predict(model, test, BatchLimits(sentences=64, tokens=10_000))
    assert all(len(tags) == len(test.words(i)) for i, tags in enumerate(one["ner"]))


def test_nothing_in_the_artifact_says_where_it_was_made(trained: Path) -> None:
    for path in trained.rglob("*"):
        if path.is_file():
            assert b"/tmp" not in path.read_bytes(), path
            assert str(trained.parent).encode() not in path.read_bytes(), path
