"""How long models are trained: `train.updates` decides, and `training.json` tells it, exactly."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.spec.models import RunOptions
from mtlspec.stages.context import StageContext
from mtlspec.stages.train import run
from mtlspec.train.state import TrainState
from tests import toy
from tests.unit.train.test_loop import model_of, options

SENTENCES = 8
FEW, MANY = 24, 90  # examples of two tasks: 3 and 12 batches


def _length(root: Path, encoder: Path, data: Path, tasks: tuple[str, ...], **train: Any) -> list[dict[str, Any]]:
    """`training.json` of a model that takes one epoch, if nothing else is said."""
    start = train.pop("start", {})
    params = {**toy.train_params(tasks, **{"epochs": 1, "batch": {"sentences": SENTENCES}, **train}), "take": "encoder"}
    for folder in ("out", "work"):
        (root / folder).mkdir(parents=True)
    inputs = {"encoder": encoder, "prepare-toy": data, **start}
    run(StageContext("train", params, inputs, root / "out", root / "work", "identity", root))
    found: list[dict[str, Any]] = json.loads((root / "out/training.json").read_bytes())
    return found


def _both(updates: int, examples: int) -> dict[str, dict[str, int]]:
    return {task: {"updates": updates, "examples": examples} for task in ("pos", "ner")}


def _state(encoder: Path, data: Path, monkeypatch: pytest.MonkeyPatch, **train: Any) -> TrainState:
    """Before the first update, of a model of two tasks with FEW and MANY labelled sentences."""
    prepared = Prepared.load(data)
    model = model_of(encoder, prepared)
    for task, number in zip(model.tasks, (FEW, MANY), strict=True):
        monkeypatch.setattr(task, "rows", lambda split, number=number: torch.arange(min(number, len(split))))
    chosen = options(**{"batch": {"sentences": SENTENCES}, **train})
    return TrainState.fresh(model, Corpora.single(prepared), chosen, RunOptions(), seed=1)


def _drawn(state: TrainState) -> list[tuple[int, int]]:
    """Of every task the batches that it takes part in, and the examples it reads, in all epochs."""
    found = [[0, 0], [0, 0]]
    for _ in range(state.updates):
        for task, _, rows in state.draw():
            found[task][0] += 1
            found[task][1] += len(rows)
    return [(batches, read) for batches, read in found]


def test_a_single_model_sees_all_its_examples_once_an_epoch(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    (found,) = _length(tmp_path, toy_encoder, toy_prepared, ("pos",), epochs=2, patience=1.0)
    examples = len(Prepared.load(toy_prepared).train)
    assert found["tasks"] == {"pos": {"updates": found["updates"], "examples": 2 * examples}}
    assert found["planned"] == found["updates"] == 2 * math.ceil(examples / SENTENCES)


@pytest.mark.parametrize("updates", ["per_task", "total"])
def test_joint_batches_of_one_corpus_give_every_task_what_it_has_alone(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path, updates: str
) -> None:
    (alone,) = _length(tmp_path / "alone", toy_encoder, toy_prepared, ("pos",), examples=30)
    (joint,) = _length(
        tmp_path / "joint", toy_encoder, toy_prepared, ("pos", "ner"), examples=30, batching="joint", updates=updates
    )
    assert alone["tasks"]["pos"]["examples"] == 30
    assert joint == {**alone, "tasks": dict.fromkeys(("pos", "ner"), alone["tasks"]["pos"])}


def test_batches_of_turns_are_as_many_as_alone_or_are_shared(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    both: dict[str, Any] = {"examples": 32, "sampler": {"type": "round_robin"}}
    (alone,) = _length(tmp_path / "alone", toy_encoder, toy_prepared, ("pos",), **both)
    (per_task,) = _length(tmp_path / "each", toy_encoder, toy_prepared, ("pos", "ner"), **both)
    (total,) = _length(tmp_path / "total", toy_encoder, toy_prepared, ("pos", "ner"), **both, updates="total")
    assert alone["tasks"] == {"pos": {"updates": 4, "examples": 32}} and alone["updates"] == 4
    assert per_task["tasks"] == _both(4, 32)
    assert per_task["updates"] == 8
    assert total["tasks"] == _both(2, 16) and total["updates"] == 4


def test_an_update_of_several_batches_counts_once_for_a_task(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """Eight batches in turns, four to an update: two updates, and both tasks are in each of them."""
    settings: dict[str, Any] = {"examples": 32, "sampler": {"type": "round_robin"}, "accumulate": 4}
    (found,) = _length(tmp_path / "each", toy_encoder, toy_prepared, ("pos", "ner"), **settings)
    assert found == {"planned": 2, "updates": 2, "tasks": _both(2, 32)}
    (total,) = _length(tmp_path / "total", toy_encoder, toy_prepared, ("pos", "ner"), **settings, updates="total")
    assert total == {"planned": 1, "updates": 1, "tasks": _both(1, 16)}


@pytest.mark.parametrize(("updates", "expected"), [("per_task", 3 + 12), ("total", 8)])
@pytest.mark.parametrize("sampler", ["power", "proportional", "random", "round_robin"])
def test_drawn_batches_are_those_of_single_models_together_or_their_mean(
    toy_encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch, sampler: str, updates: str, expected: int
) -> None:
    state = _state(toy_encoder, toy_prepared, monkeypatch, epochs=3, updates=updates, sampler={"type": sampler})
    assert state.supply.sizes.batches == (3, 12)
    assert (state.updates_per_epoch, state.updates) == (expected, 3 * expected)
    drawn = _drawn(state)
    assert sum(batches for batches, _ in drawn) == 3 * expected


def test_a_power_of_sizes_shares_the_updates_as_it_says(
    toy_encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task expects p of all updates, p as n^0.8: the small one more than alone, the large one fewer."""
    state = _state(toy_encoder, toy_prepared, monkeypatch, epochs=200, sampler={"type": "power", "alpha": 0.8})
    share = FEW**0.8 / (FEW**0.8 + MANY**0.8)
    small, large = (batches / 200 for batches, _ in _drawn(state))
    assert small + large == 15
    assert small == pytest.approx(15 * share, rel=0.05) and small > 3 and large < 12


@pytest.mark.parametrize(("updates", "expected"), [("per_task", 3 + 12), ("total", 8)])
def test_mixed_batches_have_all_tasks_in_every_update(
    toy_encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch, updates: str, expected: int
) -> None:
    state = _state(toy_encoder, toy_prepared, monkeypatch, epochs=1, updates=updates, sampler={"type": "balanced"})
    assert state.updates == expected
    assert _drawn(state) == [(expected, expected * SENTENCES // 2)] * 2


def test_joint_batches_of_partly_labelled_sentences(
    toy_encoder: Path, toy_prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pass over all sentences with any label, or as many updates as single models take on average."""
    passes = {
        updates: _state(toy_encoder, toy_prepared, monkeypatch, epochs=1, batching="joint", updates=updates)
        for updates in ("per_task", "total")
    }
    assert passes["per_task"].updates == 12 and passes["total"].updates == 8
    assert [read for _, read in _drawn(passes["per_task"])] == [FEW, MANY]


def test_what_was_seen_before_the_start_is_told_first(tmp_path: Path, toy_encoder: Path, toy_prepared: Path) -> None:
    first = _length(tmp_path / "1", toy_encoder, toy_prepared, ("pos",), examples=16)
    second = _length(
        tmp_path / "2", toy_encoder, toy_prepared, ("pos",), examples=24, start={"start": tmp_path / "1/out"}
    )
    third = _length(
        tmp_path / "3", toy_encoder, toy_prepared, ("ner",), examples=8, start={"start": tmp_path / "2/out"}
    )
    assert third[:2] == second and second[:1] == first
    assert [one["updates"] for one in third] == [2, 3, 1]
    assert [one["tasks"] for one in third] == [
        {"pos": {"updates": 2, "examples": 16}},
        {"pos": {"updates": 3, "examples": 24}},
        {"ner": {"updates": 1, "examples": 8}},
    ]


def test_a_training_that_stops_early_tells_what_was_planned(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """No weight moves, so no epoch is better than the first: half of four epochs later it ends."""
    still = {"encoder": 1e-30, "decoder": 1e-30}
    (found,) = _length(tmp_path, toy_encoder, toy_prepared, ("pos",), examples=16, epochs=4, patience=0.5, lr=still)
    assert (found["planned"], found["updates"]) == (8, 6)
    assert found["tasks"]["pos"] == {"updates": 6, "examples": 48}
