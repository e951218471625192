"""Models of a handful of examples: drawn evenly, scored once, and the same model as with a score after every epoch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from mtlspec.io.digest import digest_file
from mtlspec.results.lengths import read_length
from mtlspec.train import scoring
from tests import toy

FILES = ("model.safetensors", "epochs.json")
TOPIC = {"topic": {"type": "classification", "layer": "topic"}}


def _trained(root: Path, encoder: Path, prepared: Path, seed: int = 1, **train: Any) -> dict[str, Any]:
    few = {"epochs": 4, "examples": 6, "draw": "balanced", "keep": "last", "patience": 1.0}
    params = {**toy.train_params(seed=seed, **few, **train), "tasks": TOPIC}
    return dict(toy.run_train(root, encoder, prepared, params).facts)


def test_one_score_at_the_end_and_the_same_weights(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    predict = scoring.predict_corpora

    def counted(*given: Any) -> Any:
        calls.append("dev")
        return predict(*given)

    monkeypatch.setattr(scoring, "predict_corpora", counted)
    often = _trained(tmp_path / "often", toy_encoder, toy_prepared)
    assert len(calls) == 4
    once = _trained(tmp_path / "once", toy_encoder, toy_prepared, dev="last")
    assert len(calls) == 5
    assert once == often
    assert once["examples"]["topic"]["trained"] == 6
    weights, epochs = ([tmp_path / name / "out" / file for name in ("often", "once")] for file in FILES)
    assert len({digest_file(path) for path in weights}) == 1
    (last,) = json.loads(epochs[1].read_bytes())
    assert last == json.loads(epochs[0].read_bytes())[-1]


@pytest.mark.parametrize("draw", ["random", "balanced"])
def test_no_examples_leave_the_model_as_it_starts(
    draw: str, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """It is scored, evaluated and read like any other; so low rates that nothing moves give the same weights."""
    tiny = {"lr": {"encoder": 1e-30, "decoder": 1e-30}}
    params = {**toy.train_params(epochs=1, **tiny, examples=4), "tasks": TOPIC}
    toy.run_train(tmp_path / "still", toy_encoder, toy_prepared, params)
    train = {"epochs": 3, "examples": 0, "draw": draw, "evaluate_every": 5}
    result = toy.run_train(tmp_path / "none", toy_encoder, toy_prepared, {**toy.train_params(**train), "tasks": TOPIC})
    assert result.facts["updates"] == 0 and result.facts["best_epoch"] == 0
    assert result.facts["examples"]["topic"] | {"labelled": 0} == dict.fromkeys(
        ("labelled", "trained", "read", "updates"), 0
    )
    still, found = (load_file(tmp_path / name / "out/model.safetensors") for name in ("still", "none"))
    for name, value in still.items():
        torch.testing.assert_close(found[name], value, rtol=0, atol=1e-20)
    (only,) = json.loads((tmp_path / "none/out/epochs.json").read_bytes())
    assert (only["epoch"], only["update"], only["best"]) == (0, 0, True)
    (point,) = json.loads((tmp_path / "none/out/curve.json").read_bytes())
    assert point == {"update": 0, "scores": only["scores"], "mean": only["mean"]}
    evaluated = toy.run_evaluate(tmp_path / "evaluated", tmp_path / "none/out", toy_prepared)
    assert evaluated.scores["dev/mean"] == only["mean"]
    assert read_length(tmp_path / "none/out").tasks == {"topic": (0, 0, 0)}
