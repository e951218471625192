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
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.mixed import Reading
from mtlspec.model.multitask import build_model
from mtlspec.spec.families import SHARING, TASKS
from mtlspec.spec.models import RunOptions
from mtlspec.train.loop import backward
from mtlspec.train.state import TrainState
from tests import toy
from tests.unit.train.test_loop import model_of, options

SPLITS = ("train", "dev", "test")


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
    told = backward(together, [Reading(task, data.train, rows) for task in (0, 1)], 1.0, nullcontext())
    for task in (0, 1):
        (alone,) = backward(apart, [Reading(task, data.train, rows)], 0.5, nullcontext())
        assert told[task] == {**alone, "loss": pytest.approx(alone["loss"], rel=1e-6)}
    pairs = list(zip(together.model.module.parameters(), apart.model.module.parameters(), strict=True))
    assert any(one.grad is not None and one.grad.abs().sum() > 0 for one, _ in pairs)
    for one, other in pairs:
        if one.grad is not None:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-7)


def test_a_sentence_is_encoded_once(encoder: Path, toy_prepared: Path) -> None:
    state = _state(encoder, Prepared.load(toy_prepared), batching="joint")
    calls: list[int] = []
    state.model.encoder.register_forward_hook(lambda *_: calls.append(1))
    backward(state, state.draw(), 1.0, nullcontext())
    assert len(calls) == 1


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


def test_a_batch_holds_sentences_with_any_label_and_tasks_read_their_own(
    encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Prepared.load(toy_prepared)
    model = model_of(encoder, data)
    own = [torch.arange(0, 30), torch.arange(20, 50)]
    for task, rows in zip(model.tasks, own, strict=True):
        monkeypatch.setattr(task, "rows", lambda split, rows=rows: rows[rows < len(split)])
    chosen = options(batching="joint", balance={"type": "none"})
    state = TrainState.fresh(model, Corpora.single(data), chosen, RunOptions(), seed=1)
    read: list[set[int]] = [set(), set()]
    for _ in range(state.updates_per_epoch):
        readings = state.draw()
        for task, _, rows in readings:
            read[task] |= set(rows.tolist())
        told = backward(state, readings, 1.0, nullcontext())
        assert [row["examples"] for row in told] == [len(reading.rows) for reading in readings]
    assert read == [set(rows.tolist()) for rows in own]


def test_the_examples_of_a_joint_sample_are_those_that_are_trained(
    encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Prepared.load(toy_prepared)
    model = model_of(encoder, data)
    for task, rows in zip(model.tasks, (torch.arange(0, 30), torch.arange(20, 50)), strict=True):
        monkeypatch.setattr(task, "rows", lambda split, rows=rows: rows[rows < len(split)])
    chosen = options(batching="joint", examples=20)
    state = TrainState.fresh(model, Corpora.single(data), chosen, RunOptions(), seed=1)
    read: list[set[int]] = [set(), set()]
    for _ in range(state.updates_per_epoch):
        for task, _, rows in state.draw():
            read[task] |= set(rows.tolist())
    assert [found["trained"] for found in state.examples().values()] == [len(rows) for rows in read]
    told = [{int(row) for batch, _ in state.training_batches(task) for row in batch.rows} for task in (0, 1)]
    assert told == read


def test_losses_count_by_their_examples(encoder: Path, toy_prepared: Path) -> None:
    """Three labels of one task and one of the other: a quarter of the gradient is the other's."""
    data = Prepared.load(toy_prepared)
    mixed, apart = (_state(encoder, data, balance={"type": "none"}) for _ in range(2))
    parts = [Reading(0, data.train, torch.arange(3)), Reading(1, data.train, torch.arange(7, 8))]
    backward(mixed, parts, 1.0, nullcontext())
    for part, share in zip(parts, (0.75, 0.25), strict=True):
        backward(apart, [part], share, nullcontext())
    for one, other in zip(mixed.model.module.parameters(), apart.model.module.parameters(), strict=True):
        if one.grad is not None:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-3, atol=1e-6)


def test_a_sample_without_a_tasks_labels_is_refused(
    encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = Prepared.load(toy_prepared)
    model = model_of(encoder, data)
    monkeypatch.setattr(model.tasks[1], "rows", lambda _: torch.arange(2))
    with pytest.raises(StageError, match="none of the 3 sampled sentences is labelled for 'names'") as caught:
        TrainState.fresh(model, Corpora.single(data), options(batching="joint", examples=3), RunOptions(), seed=1)
    assert caught.value.code == "E433"


def test_every_batch_has_a_part_of_every_corpus(tmp_path: Path, encoder: Path) -> None:
    """An epoch is a pass over the larger corpus."""
    sizes = {"a": 40, "b": 12}
    prepared = {
        name: Prepared.load(toy.write_prepared(tmp_path / name, encoder, dict.fromkeys(SPLITS, toy.corpus(3, size))))
        for name, size in sizes.items()
    }
    corpora = Corpora(prepared)
    tasks = {name: options_class(TASKS, "tagging").model_validate({**toy.TASKS["pos"], "data": name}) for name in sizes}
    hard = options_class(SHARING, "hard").model_validate({"type": "hard"})
    model = build_model(Encoder.load(encoder), hard, tasks, corpora.labels(tasks))  # type: ignore[arg-type]
    chosen = options(batching="joint", batch={"sentences": 8, "tokens": 9999})
    state = TrainState.fresh(model, corpora, chosen, RunOptions(), seed=1)
    seen = []
    for _ in range(state.updates_per_epoch):
        first, second = state.draw()
        assert (first.split, second.split) == (prepared["a"].train, prepared["b"].train)
        backward(state, [first, second], 1.0, nullcontext())
        seen += first.rows.tolist()
    assert sorted(seen) == list(range(40))


@pytest.mark.parametrize("batching", ["joint", "sampled"])
def test_training_on_a_sample_sees_these_sentences_only(batching: str, encoder: Path, toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    seen: list[set[int]] = []
    for seed in (1, 1, 2):
        model = model_of(encoder, data)
        chosen = options(batching=batching, examples=24)
        state = TrainState.fresh(model, Corpora.single(data), chosen, RunOptions(), seed)
        passes = [part.rows.tolist() for _ in range(2 * state.updates_per_epoch) for part in state.draw()]
        seen.append({row for rows in passes for row in rows})
    assert len(seen[0]) == 24
    assert seen[0] == seen[1] != seen[2]


def test_the_last_weights_can_be_kept(tmp_path: Path, toy_encoder: Path, toy_prepared: Path) -> None:
    rates = {"encoder": 1e-3, "decoder": 10.0}  # so high that later epochs are worse
    for keep in ("best", "last"):
        params = toy.train_params(("pos",), epochs=4, patience=1.0, keep=keep, lr=rates, schedule="constant")
        result = toy.run_train(tmp_path / keep, toy_encoder, toy_prepared, params)
        assert (result.facts["best_epoch"] == 4) == (keep == "last")
