"""A model that starts from another: all of it, or its encoder alone with decoders of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from mtlspec.stages.context import StageContext
from mtlspec.stages.train import run
from tests import toy

STILL = {"epochs": 1, "lr": {"encoder": 1e-30, "decoder": 1e-30}}  # so small that no weight moves


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Path:
    root = tmp_path_factory.mktemp("trained")
    toy.run_train(root, toy_encoder, toy_prepared, toy.train_params(epochs=1))
    return root / "out"


def _started(root: Path, encoder: Path, prepared: Path, tasks: list[str], **start: Path) -> dict[str, Tensor]:
    """The weights of a model that learns nothing, started from another one if there is one."""
    params = {**toy.train_params(tasks, **STILL), "take": "all" if len(tasks) > 1 else "encoder"}
    for folder in ("out", "work"):
        (root / folder).mkdir(parents=True)
    inputs = {"encoder": encoder, "prepare-toy": prepared, **start}
    run(StageContext("train", params, inputs, root / "out", root / "work", "identity", root))
    return load_file(root / "out" / "model.safetensors")


def test_another_task_takes_the_encoder_and_has_a_fresh_decoder(
    trained: Path, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    saved = load_file(trained / "model.safetensors")
    fresh = _started(tmp_path / "fresh", toy_encoder, toy_prepared, ["names"])
    found = _started(tmp_path / "found", toy_encoder, toy_prepared, ["names"], start=trained)
    assert found.keys() == fresh.keys()
    for name, value in found.items():
        assert torch.equal(value, (saved if name.startswith("encoder.") else fresh)[name]), name
    assert any(not torch.equal(saved[name], fresh[name]) for name in fresh if name.startswith("encoder."))


def test_the_same_tasks_take_all(trained: Path, toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    saved = load_file(trained / "model.safetensors")
    found = _started(tmp_path / "all", toy_encoder, toy_prepared, ["pos", "ner"], start=trained)
    assert found.keys() == saved.keys() and all(torch.equal(found[name], saved[name]) for name in saved)
