"""Frozen embeddings and layers do not move; what they compute is kept, and changes nothing."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.contract import training
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.model.multitask import load_model
from mtlspec.spec.models import RunOptions
from mtlspec.train import freezing
from mtlspec.train.loop import Meter, take_update
from mtlspec.train.state import TrainState
from tests import toy
from tests.unit.train.test_loop import model_of, options

BOTTOM = ("encoder.model.embeddings.", "encoder.model.encoder.layer.0.")


def _state(encoder: Path, data: Prepared, **train: Any) -> TrainState:
    model = model_of(encoder, data)
    state = TrainState.fresh(model, Corpora.single(data), options(**train), RunOptions(), seed=1)
    state.frozen.train()
    return state


@pytest.mark.parametrize("batching", ["sampled", "joint"])
def test_frozen_parameters_are_the_same_bits_and_the_others_learn(
    batching: str, toy_encoder: Path, toy_prepared: Path
) -> None:
    state = _state(toy_encoder, Prepared.load(toy_prepared), freeze=0.5, batching=batching, weight_decay=0.1)
    before = {name: value.clone() for name, value in state.model.weights().items()}
    for _ in range(3):
        take_update(state, options(freeze=0.5), nullcontext(), Meter())
    after = state.model.weights()
    same = {name for name in before if torch.equal(before[name], after[name])}
    assert {name for name in before if name.startswith(BOTTOM)} <= same
    assert any(name.startswith("encoder.model.encoder.layer.1.") for name in before.keys() - same)
    sizes, frozen = state.model.sizes(), sum(v.numel() for n, v in before.items() if n.startswith(BOTTOM))
    assert sizes["trained"] == sizes["total"] - frozen
    held = {id(p) for p in state.optimiser.parameters}
    assert all((id(p) in held) == p.requires_grad for p in state.model.module.parameters())


def test_embeddings_with_a_projection_are_frozen_as_a_whole() -> None:
    """ELECTRA's small models project their embeddings: norm and dropout before that are embeddings, too."""
    from transformers import ElectraConfig, ElectraModel

    from mtlspec.model.encoder.places import Places

    sizes = {"vocab_size": 20, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    config = ElectraConfig(embedding_size=8, hidden_size=16, **sizes)
    model = ElectraModel(config)
    found = {
        name for module in Places(model, config).embedding_modules for name, m in model.named_modules() if m is module
    }
    assert found == {"embeddings", "embeddings_project"}


def test_frozen_layers_have_no_dropout(toy_encoder: Path, toy_prepared: Path) -> None:
    state = _state(toy_encoder, Prepared.load(toy_prepared), freeze={"layers": 1})
    modes = {name: module.training for name, module in state.model.module.named_modules()}
    assert not any(mode for name, mode in modes.items() if f"{name}.".startswith(BOTTOM))
    assert modes["encoder"] and modes["encoder.model.encoder.layer.1.output.dropout"]


def _losses(state: TrainState, updates: int, **train: Any) -> list[float]:
    for _ in range(updates):
        take_update(state, options(**train), nullcontext(), Meter())
    found: list[float] = state.history.tensors()["loss"].tolist()
    return found


def test_kept_states_change_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_prepared: Path) -> None:
    encoder = toy.write_encoder(tmp_path, dropout=0.1, layers=3)  # the upper layers keep their dropout
    data = Prepared.load(toy_prepared)
    kept = _state(encoder, data, freeze={"layers": 2})
    assert kept.kept.active
    fast = _losses(kept, 8, freeze={"layers": 2})
    monkeypatch.setattr(freezing, "LIMIT", 0)
    computed = _state(encoder, data, freeze={"layers": 2})
    assert not computed.kept.active
    assert fast == pytest.approx(_losses(computed, 8, freeze={"layers": 2}), rel=1e-4)
    runs: list[int] = []
    below, above = (kept.model.encoder.places.layers[number].module for number in (0, 2))
    query = below.get_submodule("attention.self.query")
    query.register_forward_hook(lambda *_: runs.append(0))
    above.register_forward_hook(lambda *_: runs.append(2))
    for key in list(kept.kept._batches):
        kept.kept._keep(*kept.kept._batches[key])
    runs.clear()
    take_update(kept, options(freeze={"layers": 2}), nullcontext(), Meter())
    assert runs == [2], "the layers below are not computed again"


@pytest.mark.parametrize(
    ("train", "dropout"), [({"freeze": {"layers": 1, "embeddings": False}}, 0.0), ({"freeze": 0.5}, 0.2)], ids=str
)
def test_nothing_is_kept_where_something_below_learns_or_is_random(
    train: dict[str, Any], dropout: float, toy_encoder: Path, toy_prepared: Path
) -> None:
    model = model_of(toy_encoder, Prepared.load(toy_prepared))
    model.encoder.subword_dropout = dropout
    data = Corpora.single(Prepared.load(toy_prepared))
    assert not TrainState.fresh(model, data, options(**train), RunOptions(), seed=1).kept.active


def test_too_many_layers_are_an_error(toy_encoder: Path, toy_prepared: Path) -> None:
    with pytest.raises(StageError, match="`freeze` names 3 layers, but the encoder has 2") as caught:
        _state(toy_encoder, Prepared.load(toy_prepared), freeze={"layers": 3})
    assert caught.value.code == "E435"
    with pytest.raises(StageError, match=r"`freeze: 0\.2` is a share of 2 layers that rounds to none; name more"):
        _state(toy_encoder, Prepared.load(toy_prepared), freeze=0.2)


@pytest.mark.parametrize("dropout", [0.0, 0.2])
def test_a_run_with_frozen_layers_resumes_exactly(
    dropout: float, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    params = training.params(freeze=0.5)
    params["encoder"]["subword_dropout"] = dropout
    training.check(params, tmp_path, toy_encoder, toy_prepared)
    loaded = load_model(tmp_path / "whole/out").weights()
    fresh = model_of(toy_encoder, Prepared.load(toy_prepared)).weights()
    assert all(torch.equal(value, fresh[name]) for name, value in loaded.items() if name.startswith(BOTTOM))
