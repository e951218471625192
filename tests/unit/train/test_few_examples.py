"""Models of a handful of examples: drawn evenly, scored once, and the same model as with a score after every epoch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec.io.digest import digest_file
from mtlspec.train import loop
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
    predict = loop.predict_corpora

    def counted(*given: Any) -> Any:
        calls.append("dev")
        return predict(*given)

    monkeypatch.setattr(loop, "predict_corpora", counted)
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
