"""Kinds as a contributor would write them: one file each, nothing else; they keep what every kind must keep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec import kinds
from mtlspec.contract import training
from mtlspec.contract.drawing import check_sampler
from mtlspec.data.batching import Batch
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.mixed import Reading, encode_parts
from mtlspec.model.multitask import build_model
from mtlspec.spec.families import ENCODERS, SAMPLERS, SHARING, TASKS, SamplerOptions
from mtlspec.spec.models import RunOptions, TrainOptions
from mtlspec.train.determinism import make_deterministic
from mtlspec.train.loop import Meter, take_update
from mtlspec.train.state import TrainState
from tests import toy

FOLDER = Path(__file__).parents[1] / "kinds"
FAMILIES = {"sharing": SHARING, "samplers": SAMPLERS, "encoders": ENCODERS}


@pytest.fixture(autouse=True)
def extended() -> Iterator[None]:
    with (
        kinds.extended(SHARING, FOLDER / "sharing"),
        kinds.extended(SAMPLERS, FOLDER / "samplers"),
        kinds.extended(ENCODERS, FOLDER / "encoders"),
    ):
        yield


def test_each_is_one_small_file() -> None:
    files = [path for folder in FAMILIES for path in (FOLDER / folder).glob("*.py")]
    assert len(files) == 4
    assert all(len(path.read_text().splitlines()) <= 60 for path in files)


@pytest.mark.parametrize(
    ("part", "options"),
    [
        ("sharing", {"type": "scaled_norms"}),
        ("sharing", {"type": "frozen_queries"}),
        ("sampler", {"type": "least_sure"}),
        ("encoder", {"type": "bag_of_pieces"}),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else "",
)
def test_it_trains_resumes_and_comes_back_from_disk(
    part: str, options: dict[str, Any], toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    training.check(training.params(**{part: options}), tmp_path, toy_encoder, toy_prepared)


def test_the_sampler_keeps_what_samplers_promise() -> None:
    check_sampler(kinds.parse(SAMPLERS, SamplerOptions, {"type": "least_sure"}))


def _state(encoder: Path, data: Prepared, sharing: str, **train: Any) -> TrainState:
    make_deterministic(1, RunOptions())
    tasks = {name: kinds.options_class(TASKS, "tagging").model_validate(toy.TASKS[name]) for name in ("pos", "names")}
    strategy = kinds.options_class(SHARING, sharing)(type=sharing)
    labels = Corpora.single(data).labels(tasks)  # type: ignore[arg-type]
    model = build_model(Encoder.load(encoder), strategy, tasks, labels)  # type: ignore[arg-type]
    model.module.train()
    return TrainState.fresh(model, Corpora.single(data), _options(**train), RunOptions(), seed=1)


def _options(**train: Any) -> TrainOptions:
    return TrainOptions.model_validate(toy.train_params(**train)["train"])


@pytest.mark.parametrize(
    "train", [{"weight_decay": 0.1}, {"accumulate": 2}, {"sampler": {"type": "balanced"}}], ids=str
)
def test_frozen_rows_and_what_adam_remembers_of_them_do_not_move(
    train: dict[str, Any], toy_encoder: Path, toy_prepared: Path
) -> None:
    state = _state(toy_encoder, Prepared.load(toy_prepared), "frozen_queries", **train)
    strategy: Any = state.model.sharing
    for _ in range(6):
        before = _queries(state)
        take_update(state, _options(**train), nullcontext(), Meter())
        last = state.history.tensors()
        tasks = {int(task) for task, at in zip(last["task"], last["update"], strict=True) if at == state.update}
        for parameter, old, new in zip(strategy.queries, before, _queries(state), strict=True):
            rows = strategy.rows(parameter, sorted(tasks))
            for key, values in new.items():
                assert torch.equal(values[rows], old[key][rows]), key
            assert not torch.equal(new["values"], old["values"])


def _queries(state: TrainState) -> list[dict[str, Any]]:
    strategy: Any = state.model.sharing
    found = []
    for parameter in strategy.queries:
        adam = state.optimiser.adam.state.get(parameter, {})
        moments = {key: adam.get(key, torch.zeros_like(parameter)).clone() for key in ("exp_avg", "exp_avg_sq")}
        found.append({"values": parameter.detach().clone(), **moments})
    return found


def test_rows_of_a_mixed_batch_are_scaled_by_their_own_task(toy_encoder: Path, toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    model = _state(toy_encoder, data, "scaled_norms").model
    model.module.eval()
    with torch.no_grad():
        next(model.sharing.module.parameters()).uniform_(0.5, 1.5)
        readings = [Reading(task, data.train, torch.arange(3) + task) for task in (0, 1)]
        for reading, mixed in zip(readings, encode_parts(model, readings), strict=True):
            (alone,) = encode_parts(model, [reading])
            torch.testing.assert_close(mixed.states.words, alone.states.words, rtol=0, atol=1e-5)
        (other,) = encode_parts(model, [readings[0]._replace(task=1)])
        assert not torch.allclose(other.states.words, encode_parts(model, readings)[0].states.words, atol=1e-2)


def test_scores_for_samplers_leave_training_as_it_was(toy_encoder: Path, toy_prepared: Path) -> None:
    """A draw that asks for scores changes no mode, gradient, parameter or generator; scores are shares."""
    state = _state(toy_encoder, Prepared.load(toy_prepared), "scaled_norms", sampler={"type": "least_sure"})
    model = state.model
    model.tasks[0].module.eval()
    generator, weights = torch.get_rng_state(), {k: v.clone() for k, v in model.weights().items()}
    modes = [module.training for module in model.module.modules()]
    seen: list[Batch] = []
    model.encoder.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    readings = state.draw()
    assert len(seen) == 1, "candidates of both tasks are encoded together"
    assert sum(len(reading.rows) for reading in readings) == 8
    assert torch.equal(generator, torch.get_rng_state())
    assert modes == [module.training for module in model.module.modules()]
    assert all(parameter.grad is None for parameter in model.module.parameters())
    assert all(torch.equal(value, weights[name]) for name, value in model.weights().items())
    scores = state._judge([(0, torch.arange(8)), (1, torch.arange(5))])  # type: ignore[list-item]
    assert [len(part) for part in scores] == [8, 5]
    assert all(0 <= value <= 1 for part in scores for value in part.tolist())
