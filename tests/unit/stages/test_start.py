"""A model that starts from another: all of it, or its encoder alone with decoders of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from mtlspec.errors import MtlspecError
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


@pytest.fixture(scope="module")
def conditioned(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Path:
    """A model of two tasks with conditional modules."""
    root = tmp_path_factory.mktemp("conditioned")
    params = {**toy.train_params(["pos", "ner"], epochs=1), "sharing": {"type": "ca_mtl"}}
    toy.run_train(root, toy_encoder, toy_prepared, params)
    return root / "out"


def _shared(
    root: Path, encoder: Path, prepared: Path, start: Path | None, tasks: tuple[str, ...] = ("names",), **options: Any
) -> dict[str, Tensor]:
    """The weights of a model of new tasks that is evaluated as it starts."""
    params = {**toy.train_params(tasks, examples=0), "sharing": {"type": "ca_mtl", **options}, "take": "shared"}
    for folder in ("out", "work"):
        (root / folder).mkdir(parents=True)
    inputs = {"encoder": encoder, "prepare-toy": prepared, **({} if start is None else {"start": start})}
    run(StageContext("train", params, inputs, root / "out", root / "work", "identity", root))
    return load_file(root / "out" / "model.safetensors")


@pytest.mark.parametrize("embedding", ["random", "xavier", "ner"])
def test_a_new_task_takes_the_modules_and_begins_with_an_embedding(
    embedding: str, conditioned: Path, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    saved = load_file(conditioned / "model.safetensors")
    fresh = _shared(tmp_path / "fresh", toy_encoder, toy_prepared, None, embedding="random")
    found = _shared(tmp_path / "found", toy_encoder, toy_prepared, conditioned, embedding=embedding)
    assert found.keys() == fresh.keys()
    for name, value in found.items():
        if name != "sharing.embedding" and not name.startswith("tasks."):
            assert torch.equal(value, saved[name]), name
    (row,) = found["sharing.embedding"]
    if embedding == "ner":
        assert torch.equal(row, saved["sharing.embedding"][1])
    elif embedding == "random":
        assert torch.equal(row, fresh["sharing.embedding"][0])
    else:  # uniform up to a bound that depends on the width alone
        bound = (6 / (1 + len(row))) ** 0.5
        assert 0.7 * bound < row.abs().max() <= bound


def test_tasks_that_were_learnt_keep_their_embeddings(
    conditioned: Path, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    found = _shared(tmp_path, toy_encoder, toy_prepared, conditioned, ("ner", "names"), embedding="pos")
    saved = load_file(conditioned / "model.safetensors")["sharing.embedding"]
    assert torch.equal(found["sharing.embedding"], saved[[1, 0]])


def test_modules_that_the_other_model_lacks_cannot_be_taken(
    conditioned: Path, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    with pytest.raises(MtlspecError, match=r"does not fit this one: sharing\.transform"):
        _shared(tmp_path / "more", toy_encoder, toy_prepared, conditioned, transform=True)
    with pytest.raises(MtlspecError, match=r"has no task 'dep'.*it has pos, ner"):
        _shared(tmp_path / "unknown", toy_encoder, toy_prepared, conditioned, embedding="dep")
