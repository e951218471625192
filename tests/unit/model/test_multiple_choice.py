"""Choices that are compared: the softmax over a question's choices, and batches that hold whole questions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec import kinds
from mtlspec.contract import training
from mtlspec.contract.decoders import model_of
from mtlspec.data.batching import collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.model.mixed import Reading
from mtlspec.model.tasks._questions import Questions, comparison_entropy, comparison_loss
from mtlspec.model.tasks.multiple_choice import Options
from mtlspec.model.uncertainty import uncertainty
from mtlspec.spec.families import TASKS, TaskOptions
from mtlspec.spec.models import BatchLimits, TrainOptions
from mtlspec.train.supply import Supply
from mtlspec.train.view import View

TASK = {"type": "multiple_choice", "layer": "odd", "loss": "softmax"}
NAMES = st.lists(st.none() | st.sampled_from("abcdef"), min_size=1, max_size=12)


@given(NAMES, st.data())
def test_questions_are_drawn_once_and_read_whole(names: list[str | None], data: Any) -> None:
    questions = Questions.of(names)
    firsts = [names.index(name) for name in dict.fromkeys(names) if name is not None]
    assert questions.first.tolist() == sorted(firsts)
    rows = data.draw(st.lists(st.integers(0, len(names) - 1), unique=True))
    every = questions.with_others(torch.tensor(rows, dtype=torch.int64)).tolist()
    assert every[: len(rows)] == rows
    asked = {names[row] for row in rows}
    assert sorted(every) == [
        row for row, name in enumerate(names) if row in rows or (name is not None and name in asked)
    ]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(-3, 3), st.booleans()), min_size=1, max_size=9))
def test_loss_and_entropy_are_those_of_a_softmax_over_each_question(choices: list[tuple[str, float, bool]]) -> None:
    names, scores, right = zip(*choices, strict=True)
    rows = torch.arange(len(names))
    members = Questions.of(names).members(rows)
    losses, unsure = [], []
    for name in names:
        own = [math.exp(score) for other, score, _ in choices if other == name]
        entropy = -sum(one / sum(own) * math.log(one / sum(own)) for one in own)
        unsure.append(entropy / math.log(len(own)) if len(own) > 1 else 0.0)
    for name in dict.fromkeys(names):
        own = [math.exp(score) for other, score, _ in choices if other == name]
        good = [math.exp(score) for other, score, one in choices if other == name and one]
        losses += [-math.log(sum(good) / sum(own))] if good else []
    given_scores = torch.tensor(scores, dtype=torch.float64, requires_grad=True)
    loss = comparison_loss(given_scores, members, torch.tensor(right))
    assert loss.item() == pytest.approx(sum(losses) / len(losses) if losses else 0.0, abs=1e-9)
    loss.backward()  # type: ignore[no-untyped-call]
    assert given_scores.grad is not None and bool(given_scores.grad.isfinite().all())
    assert comparison_entropy(given_scores.detach().float(), members).tolist() == pytest.approx(unsure, abs=1e-5)


def supply(data: Prepared, encoder: Path) -> tuple[Any, Supply]:
    model = model_of(encoder, data, TASK)
    options = TrainOptions.model_validate({"epochs": 1, "batch": {"sentences": 8, "tokens": 400}})
    return model, Supply(model.tasks, Corpora.single(data), options, 1)


def test_every_question_is_read_once_an_epoch_with_all_its_choices(toy_encoder: Path, toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    model, made = supply(data, toy_encoder)
    names = data.train.column("odd.question").to_pylist()
    assert len(made.labelled[0]) == len(set(names)) == len(names) // 2
    view: Any = View(1, 1, 1, made.sizes, [None], [], made.feeds, lambda _: [])
    read = [row for _ in range(made.batches_per_epoch) for row in made.draw(view)[0].rows.tolist()]
    assert sorted(read) == list(range(len(names)))
    assert made.rows()[data.train].tolist() == list(range(len(names)))
    (task,) = model.tasks
    model.module.eval()
    first = task.drawn(data.train)[:9]
    found = uncertainty(model, [Reading(0, data.train, first)], BatchLimits(sentences=4, tokens=64))[0]
    whole = collate(data.train, task.completed(data.train, first), data.specials)
    assert len(whole.rows) == 18
    torch.testing.assert_close(found, task.uncertainty(model.states(whole, 0), whole)[:9], rtol=0, atol=1e-6)
    assert float(found.min()) > 0 and float(found.max()) < 1


def test_it_trains_beside_others_resumes_and_comes_back(toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    params = training.params(sampler={"type": "mt_uncertainty"})
    params["tasks"]["odd"] = TASK
    training.check(params, tmp_path, toy_encoder, toy_prepared)


def test_comparing_says_nothing_of_a_single_choice() -> None:
    options = kinds.parse(TASKS, TaskOptions, {**TASK, "metric": "f1a_em"})
    assert isinstance(options, Options)
    with pytest.raises(StageError, match="E922: task 'x': `f1a_em` asks of every choice"):
        options.build("x", {"right": 3, "wrong": 3}, 8)
