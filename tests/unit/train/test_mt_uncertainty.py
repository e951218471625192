"""MT-uncertainty sampling: Algorithm 1 by hand and against a plain version of it, with real models, and resumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from mtlspec import kinds
from mtlspec.contract import training
from mtlspec.contract.drawing import view
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import build_model
from mtlspec.results.history import read_history
from mtlspec.spec.families import SAMPLERS, SHARING, TASKS, SamplerOptions, SharingOptions, TaskOptions
from mtlspec.spec.models import BatchLimits, RunOptions, TrainOptions
from mtlspec.train.samplers.mt_uncertainty import weigh
from mtlspec.train.sampling import Part, Sampler, TaskSizes
from mtlspec.train.state import TrainState
from mtlspec.train.view import View
from tests import toy

Judge = Callable[[Sequence[Part]], list[Tensor]]


def build(sizes: Sequence[int], sentences: int, **options: Any) -> Sampler:
    made = kinds.parse(SAMPLERS, SamplerOptions, {"type": "mt_uncertainty", **options})
    return made.build(TaskSizes(tuple(sizes), (1,) * len(sizes), tuple("abcdefgh"[: len(sizes)])), sentences, 1, 1)


def seen(sampler: Sampler, unsure: Sequence[Sequence[float] | None]) -> View:
    """Of every task how unsure the model is of its examples; None: it does not say."""

    def judge(candidates: Sequence[Part]) -> list[Tensor]:
        found = []
        for task, rows in candidates:
            if (own := unsure[task]) is None:
                raise StageError("E470", "it does not say")
            found.append(torch.tensor(own)[rows])
        return found

    return replace(view(sampler.sizes), judge=judge)


def drawn(sampler: Sampler, unsure: Sequence[Sequence[float] | None]) -> dict[int, list[int]]:
    return {part.task: sorted(part.rows.tolist()) for part in sampler.draw(seen(sampler, unsure))}


def test_algorithm_1_by_hand() -> None:
    first, second = [0.8, 0.1, 0.0], [0.5, 0.6, 0.7]  # means 0.3 and 0.6
    weights = weigh([torch.tensor(first), torch.tensor(second)], "released")
    assert torch.cat(weights).tolist() == pytest.approx([0.4, 0.05, 0.0, 0.5, 0.6, 0.7])
    assert drawn(build((3, 3), 3), [first, second]) == {1: [0, 1, 2]}
    weights = weigh([torch.tensor(first), torch.tensor(second)], "paper")
    assert torch.cat(weights).tolist() == pytest.approx([4 / 3, 1 / 6, 0.0, 5 / 6, 1.0, 7 / 6])
    assert drawn(build((3, 3), 3, normalise="paper"), [first, second]) == {0: [0], 1: [1, 2]}


def test_a_model_that_is_sure_of_everything_has_no_preference() -> None:
    assert torch.cat(weigh([torch.zeros(2), torch.zeros(3)], "released")).tolist() == [0.0] * 5
    assert drawn(build((2, 2), 3), [[0.0, 0.0], [0.0, 0.0]]) == {0: [0, 1], 1: [0]}


@given(
    data=st.data(),
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=4),
    sentences=st.integers(1, 9),
    candidates=st.integers(1, 9),
    normalise=st.sampled_from(["released", "paper"]),
)
def test_a_plain_version_chooses_the_same(
    data: st.DataObject, sizes: list[int], sentences: int, candidates: int, normalise: str
) -> None:
    share = st.integers(0, 64).map(lambda number: number / 64)
    unsure = [data.draw(st.lists(share, min_size=size, max_size=size)) for size in sizes]
    sampler = build(sizes, sentences, candidates=candidates, normalise=normalise)
    told = seen(sampler, unsure)
    taken = [sorted(set(told.take(task, min(candidates, size)).tolist())) for task, size in enumerate(sizes)]
    means = [sum(unsure[task][row] for row in rows) / len(rows) for task, rows in enumerate(taken)]
    triples = [
        (unsure[task][row] * (means[task] if normalise == "released" else 1.0), -task, -row)
        for task, rows in enumerate(taken)
        for row in rows
    ]
    best = {(-task, -row) for _, task, row in sorted(triples, reverse=True)[:sentences]}
    weights = {(-task, -row): weight for weight, task, row in triples}
    again = {(part.task, row) for part in sampler.draw(seen(sampler, unsure)) for row in part.rows.tolist()}
    assert len(again) == len(best)  # ties may fall otherwise where products round
    assert sorted(weights[one] for one in again) == pytest.approx(sorted(weights[one] for one in best), abs=1e-6)


@pytest.mark.parametrize("silent", [{1}, {0, 1, 2}, {0, 2}])
def test_tasks_that_do_not_say_get_the_share_of_random_draws(silent: set[int]) -> None:
    unsure = [None if task in silent else [0.5] * 40 for task in range(3)]
    sampler = build((40, 40, 40), 4)
    told = seen(sampler, unsure)
    counts = [0, 0, 0]
    for step in range(1, 10):
        parts = sampler.draw(told)
        assert sum(len(part.rows) for part in parts) == 4
        assert [part.task for part in parts] == sorted({part.task for part in parts})
        for part in parts:
            counts[part.task] += len(part.rows)
        assert all(abs(counts[task] - step * 4 / 3) < 1 for task in silent)


def test_a_proxy_lends_what_candidates_are_chosen_by() -> None:
    """Of b, which does not say, as many candidates are chosen as of a, which lends; c is never as unsure."""
    sampler = build((4, 4, 4), 4, proxy={"b": "a"})
    assert drawn(sampler, [[0.9, 0.8, 0.1, 0.1], None, [0.3] * 4]) == {0: [0, 1], 1: [0, 1]}
    assert sum(map(len, drawn(build((4, 2), 4, proxy={"b": "a"}), [[0.9] * 4, None]).values())) == 4
    # Lent nothing: the lender does not say either, or is not there.
    for options in ({"b": "c"}, {"b": "x"}):
        counts = drawn(build((8, 8, 8), 6, proxy=options), [[0.9] * 8, None, None])
        assert {task: len(rows) for task, rows in counts.items()} == {0: 2, 1: 2, 2: 2}


def test_other_errors_of_a_judge_are_not_taken_for_silence() -> None:
    def broken(_: Sequence[Part]) -> list[Tensor]:
        raise StageError("E999", "broken")

    sampler = build((4,), 2)
    with pytest.raises(StageError, match="broken"):
        sampler.draw(replace(view(sampler.sizes), judge=broken))


def test_no_example_comes_twice_in_a_batch() -> None:
    sampler = build((5, 3), 4)
    told = seen(sampler, [[0.9] * 5, [0.1] * 3])
    for _ in range(8):
        for part in sampler.draw(told):
            assert len(set(part.rows.tolist())) == len(part.rows)


def state_of(encoder: Path, data: Prepared, tasks: dict[str, dict[str, Any]], limits: BatchLimits) -> TrainState:
    options = {name: kinds.parse(TASKS, TaskOptions, task) for name, task in tasks.items()}
    strategy = kinds.parse(SHARING, SharingOptions, {"type": "ca_mtl"})
    model = build_model(Encoder.load(encoder), strategy, options, Corpora.single(data).labels(options))
    model.module.train()
    params = toy.train_params(sampler={"type": "mt_uncertainty"}, batch=limits.model_dump())["train"]
    return TrainState.fresh(model, Corpora.single(data), TrainOptions.model_validate(params), RunOptions(), seed=1)


def test_a_task_made_unpredictable_is_drawn_and_a_solved_one_is_not(toy_encoder: Path, toy_prepared: Path) -> None:
    tasks = {"topic": {"type": "classification", "layer": "topic"}, "pos": toy.TASKS["pos"]}
    state = state_of(toy_encoder, Prepared.load(toy_prepared), tasks, BatchLimits(sentences=8, tokens=4000))
    classes, tags = (task.module for task in state.model.tasks)
    with torch.no_grad():
        for parameter in classes.parameters():
            parameter.zero_()  # all classes are as likely
        for parameter in tags.parameters():
            parameter.mul_(1000.0)
    readings = state.draw()
    assert [(reading.task, len(reading.rows)) for reading in readings] == [(0, 8)]


def test_candidates_scored_at_once_or_in_many_passes_weigh_the_same(toy_encoder: Path, toy_prepared: Path) -> None:
    tasks = {"topic": {"type": "classification", "layer": "topic"}, "pos": toy.TASKS["pos"], "ner": toy.TASKS["ner"]}
    found = []
    for tokens in (100_000, 40):
        torch.manual_seed(2)
        limits = BatchLimits(sentences=12, tokens=tokens)
        state = state_of(toy_encoder, Prepared.load(toy_prepared), tasks, limits)
        passes: list[object] = []
        state.model.encoder.register_forward_pre_hook(lambda _, inputs, passes=passes: passes.append(inputs[0]))
        found.append(torch.cat(weigh(state._judge([Part(task, torch.arange(12)) for task in range(3)]), "released")))
        assert (len(passes) == 1) == (tokens > 40)
    torch.testing.assert_close(*found, rtol=0, atol=1e-6)
    assert found[0].std() > 1e-4


NOISY = {"type": "classification", "layer": "noise"}


@pytest.mark.parametrize(
    "task", [{"type": "regression", "layer": "size"}, {"type": "classification", "layer": "topic"}]
)
def test_it_trains_resumes_and_comes_back_from_disk(
    task: dict[str, Any], toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    params = training.params(task=task, sampler={"type": "mt_uncertainty"}, balance={"type": "none"})
    training.check(params, tmp_path, toy_encoder, toy_prepared)
    tasks, columns = read_history(tmp_path / "whole/out")
    by_update: dict[float, int] = {}
    for update, examples in zip(columns["update"], columns["examples"], strict=True):
        by_update[update] = by_update.get(update, 0) + int(examples)
    assert set(by_update.values()) == {6}  # what a batch is made of is in the history
    assert set(tasks) == {"pos", "names"}


def test_what_is_learnt_is_drawn_less_and_noise_goes_on(tmp_path: Path, toy_encoder: Path) -> None:
    noise = torch.Generator().manual_seed(3)

    def sentences(seed: int, size: int) -> list[Any]:
        values = torch.randint(2, (size,), generator=noise).tolist()
        pairs = zip(toy.corpus(seed, size), values, strict=True)
        return [replace(one, layers={**one.layers, "noise": "yn"[value]}) for one, value in pairs]

    splits = {"train": sentences(1, 120), "dev": sentences(2, 20), "test": sentences(3, 20)}
    prepared = toy.write_prepared(tmp_path / "prepared", toy_encoder, splits)
    params = training.params(task=NOISY, sampler={"type": "mt_uncertainty"}, epochs=4, balance={"type": "none"})
    toy.run_train(tmp_path / "run", toy_encoder, prepared, params)
    tasks, columns = read_history(tmp_path / "run/out")
    half = columns["update"].max() / 2
    share = [
        sum(n for task, at, n in zip(tasks, columns["update"], columns["examples"], strict=True)
            if task == "names" and (at > half) == late) / (6 * half)
        for late in (False, True)
    ]  # fmt: skip
    assert share[1] > share[0]
    assert share[1] > 0.75
