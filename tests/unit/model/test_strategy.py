"""A strategy without the rest of its model: what analyses of gates read, also where the other weights were freed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import mtlspec
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError, IntegrityError
from mtlspec.io.digest import digest_value
from mtlspec.io.freed import ARTIFACT, GATES, WEIGHTS, is_freed, kept_folder, kept_gates, verify_but_weights
from mtlspec.io.manifest import read_manifest, verify_manifest, write_manifest
from mtlspec.io.write import write_json
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.strategy import load_strategy, strategy_weights
from tests.unit.analyses.gated_models import CLOSED, OPEN, write_model

SOME = [[OPEN, CLOSED, 0.3, OPEN], [CLOSED, OPEN, OPEN, 0.1]]


@pytest.fixture
def artifact(tmp_path: Path, toy_encoder: Path, toy_prepared: Path) -> Path:
    folder = tmp_path / "artifacts" / "train-dp-pos-s1"
    write_model(folder, toy_encoder, Prepared.load(toy_prepared), ["pos"], 1, SOME)
    write_manifest(folder)
    return folder


def _keep(artifact: Path, digest: str) -> None:
    """As freeing does it."""
    folder = kept_folder(artifact)
    folder.mkdir(parents=True)
    save_file(strategy_weights(artifact), folder / GATES)
    write_json(folder / ARTIFACT, {"digest": digest})
    write_manifest(folder)


def test_the_gates_are_those_of_the_whole_model(artifact: Path) -> None:
    whole, alone = mtlspec.load(artifact), load_strategy(artifact)
    assert isinstance(whole, MultiTaskModel)
    for measure in ("gate", "probability"):
        expected, found = whole.sharing.head_gates(measure), alone.sharing.head_gates(measure)
        assert expected is not None and found is not None and torch.equal(expected, found)
    assert strategy_weights(artifact).keys() == {name for name in whole.weights() if name.startswith("sharing.")}


def test_kept_gates_stand_for_freed_weights_of_the_same_artifact_only(artifact: Path) -> None:
    expected = load_strategy(artifact).sharing.head_gates()
    sealed = verify_manifest(artifact)
    _keep(artifact, digest_value(read_manifest(artifact)))
    assert not is_freed(artifact)
    (artifact / WEIGHTS).unlink()
    assert is_freed(artifact) and verify_but_weights(artifact) == sealed
    found = load_strategy(artifact).sharing.head_gates()
    assert expected is not None and found is not None and torch.equal(expected, found)
    with pytest.raises(IntegrityError, match="E503: a file of the artifact is missing"):
        verify_manifest(artifact)

    (artifact / "epochs.json").write_text("[1]")  # of another training
    write_manifest(artifact)
    assert kept_gates(artifact) is None


def test_all_but_the_weights_is_still_verified(artifact: Path) -> None:
    (artifact / WEIGHTS).unlink()
    (artifact / "model.json").write_text("{}")
    with pytest.raises(IntegrityError, match=r"model\.json: error E505: the file changed"):
        verify_but_weights(artifact)


def test_edited_gates_are_refused(artifact: Path) -> None:
    _keep(artifact, digest_value(read_manifest(artifact)))
    (artifact / WEIGHTS).unlink()
    file = kept_folder(artifact) / GATES
    file.write_bytes(file.read_bytes()[:-1] + b"\0")
    with pytest.raises(IntegrityError, match=r"gates\.safetensors: error E505"):
        load_strategy(artifact)


def test_nothing_stands_for_weights_of_which_nothing_was_kept(artifact: Path) -> None:
    (artifact / WEIGHTS).unlink()
    with pytest.raises(EncoderError, match="E379: the strategy's weights cannot be read: No such file"):
        load_strategy(artifact)
