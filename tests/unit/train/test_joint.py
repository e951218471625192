"""Joint batches: every sentence is encoded once and trains all decoders."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.spec.models import RunOptions
from mtlspec.train.loop import backward
from mtlspec.train.state import Portion, TrainState
from tests import toy
from tests.unit.train.test_loop import model_of, options


def _state(encoder: Path, data: Prepared, **train: Any) -> TrainState:
    model = model_of(encoder, data)
    model.module.train()
    return TrainState.fresh(model, Corpora.single(data), options(**train), RunOptions(), seed=1)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without dropout, so that two passes see the same."""
    return toy.write_encoder(tmp_path_factory.mktemp("calm"), dropout=0.0)


def test_the_gradient_is_the_mean_of_the_tasks_gradients(encoder: Path, toy_prepared: Path) -> None:
    data, rows = Prepared.load(toy_prepared), torch.arange(6)
    together = _state(encoder, data, batching="joint", balance={"type": "none"})
    apart = _state(encoder, data, balance={"type": "none"})
    told = backward(together, Portion((0, 1), data.train, rows), 1.0, nullcontext(), 1)
    for task in (0, 1):
        ((_, loss, weight),) = backward(apart, Portion((task,), data.train, rows), 0.5, nullcontext(), 1)
        assert told[task] == (task, pytest.approx(loss, rel=1e-6), weight)
    pairs = list(zip(together.model.module.parameters(), apart.model.module.parameters(), strict=True))
    assert any(one.grad is not None and one.grad.abs().sum() > 0 for one, _ in pairs)
    for one, other in pairs:
        if one.grad is not None:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-7)


def test_a_sentence_is_encoded_once(encoder: Path, toy_prepared: Path) -> None:
    state = _state(encoder, Prepared.load(toy_prepared), batching="joint")
    calls: list[int] = []
    state.model.encoder.register_forward_hook(lambda *_: calls.append(1))
    backward(state, *_first(state), nullcontext(), 1)
    assert len(calls) == 1


def _first(state: TrainState) -> tuple[Portion, float]:
    (portion,) = state.draw(1)
    return portion, 1.0


def test_an_epoch_is_one_pass_and_every_update_has_all_tasks(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    params = toy.train_params(("pos", "ner"), epochs=2, patience=1.0, batching="joint")
    result = toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    history = pq.read_table(tmp_path / "out" / "history.parquet").to_pydict()
    updates = result.facts["updates"]
    sampled = toy.run_train(
        tmp_path / "sampled", toy_encoder, toy_prepared, toy.train_params(("pos", "ner"), epochs=2, patience=1.0)
    )
    assert sampled.facts["updates"] == 2 * updates
    assert history["task"] == ["pos", "ner"] * updates


def test_data_without_common_sentences_are_refused(
    encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Prepared.load(toy_prepared)
    model = model_of(encoder, data)
    monkeypatch.setattr(model.tasks[0], "rows", lambda _: torch.arange(5))
    monkeypatch.setattr(model.tasks[1], "rows", lambda _: torch.arange(5, 9))
    with pytest.raises(StageError, match="E433") as caught:
        TrainState.fresh(model, Corpora.single(data), options(batching="joint"), RunOptions(), seed=1)
    assert "sampled" in str(caught.value)


@pytest.mark.parametrize("batching", ["joint", "sampled"])
def test_training_on_a_sample_sees_these_sentences_only(batching: str, encoder: Path, toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    seen: list[set[int]] = []
    for seed in (1, 1, 2):
        model = model_of(encoder, data)
        chosen = options(batching=batching, examples=24)
        state = TrainState.fresh(model, Corpora.single(data), chosen, RunOptions(), seed)
        passes = [portion.rows.tolist() for _ in range(2 * state.updates_per_epoch) for portion in state.draw(1)]
        seen.append({row for rows in passes for row in rows})
    assert len(seen[0]) == 24
    assert seen[0] == seen[1] != seen[2]


def test_the_last_weights_can_be_kept(tmp_path: Path, toy_encoder: Path, toy_prepared: Path) -> None:
    rates = {"encoder": 1e-3, "decoder": 10.0}  # so high that later epochs are worse
    for keep in ("best", "last"):
        params = toy.train_params(("pos",), epochs=4, patience=1.0, keep=keep, lr=rates, schedule="constant")
        result = toy.run_train(tmp_path / keep, toy_encoder, toy_prepared, params)
        assert (result.facts["best_epoch"] == 4) == (keep == "last")
