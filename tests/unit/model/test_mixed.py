"""Mixed batches: one forward pass gives every task what a pass of its own would give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.data.batching import Batch, collate
from mtlspec.data.prepared import Prepared
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.states import States
from mtlspec.model.mixed import Reading, encode_parts
from mtlspec.model.multitask import MultiTaskModel, build_model
from mtlspec.model.sharing import Sharing
from mtlspec.model.tasks.tagging import Options
from mtlspec.sharing.hard import Options as Hard
from mtlspec.sharing.l0 import Options as Gated


class ByTask(Sharing):
    """What a task sees is moved by its number; it remembers how many rows every pass had."""

    task_free = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.passes: list[int] = []

    def encode(self, batch: Batch) -> States:
        states = super().encode(batch)
        self.passes.append(len(batch.rows))
        assert batch.tasks is not None
        shift = batch.tasks.view(-1, 1, 1).float()
        return replace(states, words=states.words + shift)


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


@pytest.fixture
def model(toy_encoder: Path, data: Prepared) -> MultiTaskModel:
    tasks = {name: Options.model_validate({"type": "tagging", "layer": name}) for name in ("pos", "ner")}
    made = build_model(Encoder.load(toy_encoder), Hard(type="hard"), tasks, data.labels)  # type: ignore[arg-type]
    made.module.eval()
    return made


def _alone(model: MultiTaskModel, reading: Reading) -> States:
    batch = collate(reading.split, reading.rows, model.encoder.specials)
    return model.states(batch, reading.task)


def test_one_reading_is_the_plain_batch_to_the_bit(model: MultiTaskModel, data: Prepared) -> None:
    reading = Reading(1, data.train, torch.tensor([4, 1, 7]))
    ((states, batch),) = encode_parts(model, [reading])
    assert torch.equal(states.words, _alone(model, reading).words)
    assert batch.rows.tolist() == [4, 1, 7] and batch.tasks is not None and batch.tasks.tolist() == [1, 1, 1]
    assert batch.split is data.train


@pytest.mark.parametrize("by_task", [False, True])
def test_a_mixed_batch_gives_every_task_its_own_part(model: MultiTaskModel, data: Prepared, by_task: bool) -> None:
    if by_task:
        model.sharing = ByTask(model.encoder, ["pos", "ner"])
    readings = [
        Reading(0, data.train, torch.tensor([5, 0, 3])),
        Reading(1, data.train, torch.tensor([3, 9])),
        Reading(1, data.dev, torch.tensor([2])),
        Reading(0, data.dev, torch.tensor([2])),
    ]
    for reading, (states, batch) in zip(readings, encode_parts(model, readings), strict=True):
        alone = collate(reading.split, reading.rows, model.encoder.specials)
        assert batch.split is reading.split and torch.equal(batch.rows, reading.rows)
        for name in ("pieces", "piece_mask", "word_of_piece", "word_mask"):
            assert torch.equal(getattr(batch, name), getattr(alone, name)), name
        expected = _alone(model, reading)
        for name in ("words", "cls", "sep"):
            torch.testing.assert_close(getattr(states, name), getattr(expected, name), atol=1e-5, rtol=0)
        real = batch.piece_mask
        torch.testing.assert_close(states.pieces[real], expected.pieces[real], atol=1e-5, rtol=0)


def test_what_several_tasks_read_is_encoded_once_only_where_it_looks_the_same(
    model: MultiTaskModel, data: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = torch.tensor([1, 2])
    readings = [Reading(0, data.train, rows), Reading(1, data.train, rows)]
    seen: list[int] = []
    plain = model.sharing.encode

    def encode(batch: Batch) -> States:
        seen.append(len(batch.rows))
        return plain(batch)

    monkeypatch.setattr(model.sharing, "encode", encode)
    first, second = encode_parts(model, readings)
    assert seen == [2] and first.states is second.states
    model.sharing = ByTask(model.encoder, ["pos", "ner"])
    first, second = encode_parts(model, readings)
    assert model.sharing.passes == [4]
    torch.testing.assert_close(first.states.words + 1, second.states.words, atol=1e-5, rtol=0)


def test_gates_and_gradients_go_through_a_mixed_batch(toy_encoder: Path, data: Prepared) -> None:
    tasks = {name: Options.model_validate({"type": "tagging", "layer": name}) for name in ("pos", "ner")}
    model = build_model(Encoder.load(toy_encoder), Gated(type="l0"), tasks, data.labels)  # type: ignore[arg-type]
    readings = [Reading(0, data.train, torch.arange(3)), Reading(1, data.dev, torch.arange(2))]
    total = torch.zeros(())
    for reading, (states, batch) in zip(readings, encode_parts(model, readings), strict=True):
        task = model.tasks[reading.task]
        total = total + task.loss(states, batch, task.encode(reading.split))
    total.backward()
    assert all(p.grad is not None for p in model.encoder.parameters())
