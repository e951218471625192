"""Dev scores on the way: they change nothing of a training, and an interrupted one ends with the same ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec.io.digest import digest_file
from mtlspec.train import scoring
from tests import toy

FILES = ("model.safetensors", "history.parquet", "epochs.json", "training.json")
TASKS = {
    "pos": toy.TASKS["pos"],
    "topic": {"type": "classification", "layer": "topic"},
    "size": {"type": "regression", "layer": "size"},
}
EVERY = {"updates": 7, "entropy": True}


def _params(**train: Any) -> dict[str, Any]:
    limits = {"batch": {"sentences": 6, "tokens": 200}, "checkpoint_every": 4, "patience": 1.0, "epochs": 2}
    return {**toy.train_params(**limits, **train), "tasks": TASKS}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Path:
    root = tmp_path_factory.mktemp("plain")
    toy.run_train(root, toy_encoder, toy_prepared, _params())
    return root / "out"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Path:
    root = tmp_path_factory.mktemp("watched")
    toy.run_train(root, toy_encoder, toy_prepared, _params(evaluate_every=EVERY))
    return root / "out"


def _curve(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((out / "curve.json").read_bytes())
    return found


def test_whoever_looks_on_changes_nothing(plain: Path, watched: Path) -> None:
    assert not (plain / "curve.json").exists()
    for file in FILES:
        assert digest_file(plain / file) == digest_file(watched / file), file


def test_scores_every_so_often_and_at_the_end(watched: Path) -> None:
    curve, epochs = _curve(watched), json.loads((watched / "epochs.json").read_bytes())
    updates = epochs[-1]["update"]
    assert updates % EVERY["updates"], "the end would not be a point of its own"
    assert [point["update"] for point in curve] == [*range(7, updates, 7), updates]
    assert (curve[-1]["scores"], curve[-1]["mean"]) == (epochs[-1]["scores"], epochs[-1]["mean"])
    assert all(point["scores"].keys() == TASKS.keys() for point in curve)
    assert len({json.dumps(point["scores"]) for point in curve}) > 1, "nothing was learnt on the way"


def test_entropies_of_the_tasks_that_have_one(watched: Path) -> None:
    """A number has no entropy. In the beginning tags are nearly equally likely."""
    curve = _curve(watched)
    assert all(point["entropy"].keys() == {"pos", "topic"} for point in curve)
    assert all(0 <= value <= 1 for point in curve for value in point["entropy"].values())
    assert curve[0]["entropy"]["pos"] > curve[-1]["entropy"]["pos"]


def test_an_interrupted_training_has_the_same_curve(
    watched: Path, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    class StoppedError(Exception):
        pass

    def stop(done: int, _total: int, _what: str) -> None:
        if done == 23:
            raise StoppedError

    params = _params(evaluate_every=EVERY)
    with pytest.raises(StoppedError):
        toy.run_train(tmp_path, toy_encoder, toy_prepared, params, stop)
    toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    for file in (*FILES, "curve.json"):
        assert digest_file(tmp_path / "out" / file) == digest_file(watched / file), file


def test_scores_of_an_epoch_are_not_made_twice(
    plain: Path, tmp_path: Path, toy_encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    predict = scoring.predict_corpora

    def counted(*given: Any) -> Any:
        calls.append("dev")
        return predict(*given)

    monkeypatch.setattr(scoring, "predict_corpora", counted)
    per_epoch = json.loads((plain / "epochs.json").read_bytes())[0]["update"]
    toy.run_train(tmp_path, toy_encoder, toy_prepared, _params(evaluate_every=per_epoch))
    curve = _curve(tmp_path / "out")
    assert ([point["update"] for point in curve], len(calls)) == ([per_epoch, 2 * per_epoch], 2)
    assert all("entropy" not in point for point in curve)
