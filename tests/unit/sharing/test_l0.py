"""L0 head gates in training and evaluation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch

from mtlspec.data.batching import collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.io.digest import digest_file
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.hard_concrete import HardConcrete
from mtlspec.model.multitask import MultiTaskModel, build_model, load_model
from mtlspec.sharing.l0 import L0, Options
from mtlspec.spec.families import TASKS
from mtlspec.spec.models import TrainOptions
from mtlspec.train.optimiser import Optimiser, parameter_groups
from tests import toy


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def _model(encoder: Path, data: Prepared, *tasks: str, **options: Any) -> MultiTaskModel:
    torch.manual_seed(3)
    chosen = {name: options_class(TASKS, "tagging").model_validate(toy.TASKS[name]) for name in tasks or ("pos",)}
    return build_model(
        Encoder.load(encoder),
        Options.model_validate({"type": "l0", **options}),
        chosen,
        Corpora.single(data).labels(chosen),
    )  # type: ignore[arg-type]


def _penalty(model: MultiTaskModel) -> torch.Tensor:
    assert isinstance(model.sharing, L0)
    return model.sharing.penalty()


def _gates(model: MultiTaskModel) -> torch.nn.Parameter:
    assert isinstance(model.sharing, L0)
    return model.sharing.module["gates"]  # type: ignore[return-value]


def test_open_gates_leave_the_encoder_nearly_as_it_is_and_wide_open_ones_exactly(
    toy_encoder: Path, data: Prepared
) -> None:
    model = _model(toy_encoder, data)
    batch = collate(data.train, torch.arange(6), data.specials)
    plain = model.encoder(batch).words
    model.module.eval()
    assert torch.allclose(model.states(batch, 0).words, plain, atol=0.05)
    with torch.no_grad():
        _gates(model).fill_(3.0)  # above log 11, where the evaluation gate is 1
    assert torch.equal(model.states(batch, 0).words, plain)
    with torch.no_grad():
        _gates(model)[0, 1] = -3.0
    assert not torch.allclose(model.states(batch, 0).words, plain, atol=1e-4)


def test_training_draws_one_gate_a_head_and_pass_and_evaluation_none(toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data, init="half_open")
    first = collate(data.train, torch.tensor([0, 0]), data.specials)
    for module in model.encoder.modules():
        module.eval()
    model.sharing.module.train()
    a, b = model.states(first, 0).words, model.states(first, 0).words
    assert torch.allclose(a[0], a[1]), "the sentences of a batch share their gates"
    assert not torch.allclose(a, b), "every forward pass draws new ones"
    model.module.eval()
    assert torch.equal(model.states(first, 0).words, model.states(first, 0).words)


def test_the_penalty_is_the_mean_over_heads_or_as_released(toy_encoder: Path, data: Prepared) -> None:
    mean = _model(toy_encoder, data, **{"lambda": 0.5})
    with torch.no_grad():
        _gates(mean).copy_(torch.tensor([[2.0, -2.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]]))
    share = (0.94220 * 5 + 0.22993 + 0.68811 * 2) / 8
    assert _penalty(mean).item() == pytest.approx(0.5 * share, abs=1e-5)
    released = _model(toy_encoder, data, penalty_form="released", **{"lambda": 0.5})
    with torch.no_grad():
        _gates(released).copy_(_gates(mean))
    assert _penalty(released).item() == pytest.approx(0.5 * share * 4, abs=1e-5)


def test_the_gradient_of_the_penalty_is_that_of_finite_differences(toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data, init="half_open")
    gates = _gates(model)
    gates.data = gates.data.double()
    _penalty(model).backward()
    step, place = 1e-6, (1, 2)
    values = []
    for sign in (1, -1):
        with torch.no_grad():
            gates[place] += sign * step
            values.append(_penalty(model).item())
            gates[place] -= sign * step
    assert gates.grad is not None
    assert gates.grad[place].item() == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-6)


def test_measures_of_the_gates(toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data)
    with torch.no_grad():
        _gates(model).copy_(torch.tensor([[2.0, -2.0, -2.38, -2.39], [-2.4, 0.0, 9.0, -9.0]]))
    gate = model.sharing.head_gates("gate")
    assert gate is not None
    assert (gate > 0).tolist() == [[True, True, True, False], [False, True, True, False]]  # kept above -2.38704
    assert gate[0, 0].item() == pytest.approx(0.95696, abs=1e-5)
    shape = HardConcrete()
    p_open, expected = model.sharing.head_gates("p_open"), model.sharing.head_gates("expected_z")
    assert p_open is not None and expected is not None
    assert torch.allclose(p_open, shape.p_open(_gates(model)))
    assert torch.allclose(expected, shape.expected(_gates(model)))
    logs = model.sharing.logs()
    assert logs["gates_kept"] == pytest.approx(5 / 8)
    assert logs["gates_open"] == pytest.approx(p_open.sum().item())
    assert logs["gates_penalty"] == pytest.approx(0.1 * p_open.mean().item(), abs=1e-7)


def test_gates_have_plain_adam_outside_schedule_decay_and_clipping(toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data)
    options = TrainOptions.model_validate({"weight_decay": 0.1})
    optimiser = Optimiser(parameter_groups(model, torch.nn.Module(), options, updates=98), options)
    gates = _gates(model)
    (group,) = [group for group in optimiser.adam.param_groups if group["name"] == "gates"]
    assert group["params"] == [gates] and group["weight_decay"] == 0
    optimiser.set_rates(0.01)
    assert optimiser.rate("gates") == pytest.approx(2 * (2.5 + math.log(11)) / 98)
    assert optimiser.rate("encoder") == pytest.approx(0.01 * options.lr.encoder)
    for parameter in optimiser.parameters:
        parameter.grad = torch.full_like(parameter, 1e-3 if parameter is not gates else 1e6)
    rest = [p for p in optimiser.parameters if p is not gates]
    norm = math.sqrt(sum(p.numel() for p in rest)) * 1e-3
    assert optimiser.clip(0.01) == pytest.approx(norm, rel=1e-5), "gates do not count"
    assert gates.grad is not None and gates.grad.max().item() == 1e6, "and are not clipped"
    assert rest[0].grad is not None and rest[0].grad.max().item() == pytest.approx(1e-3 * 0.01 / norm, rel=1e-3)


def test_a_chosen_gate_rate_is_used_as_it_is(toy_encoder: Path, data: Prepared) -> None:
    (group,) = _model(toy_encoder, data, gate_lr=0.02).sharing.groups(1000)
    assert group.lr == 0.02


def test_static_pruning_freezes_decoders_and_needs_a_start(toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data, "pos", "ner", mode="static")
    assert not any(p.requires_grad for task in model.tasks for p in task.module.parameters())
    assert all(p.requires_grad for p in model.encoder.parameters()) and _gates(model).requires_grad
    static = Options.model_validate({"type": "l0", "mode": "static"})
    assert "`start`" in (static.problem(started=False) or "")
    assert static.problem(started=True) is None
    assert Options(type="l0").problem(started=False) is None


def _train(root: Path, encoder: Path, prepared: Path, sharing: dict[str, Any], **train: Any) -> Any:
    params = toy.train_params(("pos", "names"), patience=1.0, **train)
    params["sharing"] = {"type": "l0", **sharing}
    return toy.run_train(root, encoder, prepared, params)


def test_a_large_lambda_closes_heads_and_the_saved_model_knows(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    _train(tmp_path, toy_encoder, toy_prepared, {"lambda": 50.0}, epochs=2)
    history = pq.read_table(tmp_path / "out/history.parquet").to_pydict()
    assert history["gates_kept"][0] == 1.0 and history["gates_kept"][-1] < 0.5
    assert history["gates_open"][-1] < history["gates_open"][0]
    assert history["gates_penalty"][0] == pytest.approx(50 * 0.964, abs=1.0)
    model = load_model(tmp_path / "out")
    gates = model.sharing.head_gates("gate")
    assert gates is not None and gates.shape == (2, 4)


def test_without_a_penalty_every_head_stays(tmp_path: Path, toy_encoder: Path, toy_prepared: Path) -> None:
    _train(tmp_path, toy_encoder, toy_prepared, {"lambda": 0.0, "gate_lr": 1e-3}, epochs=1)
    assert pq.read_table(tmp_path / "out/history.parquet").to_pydict()["gates_kept"][-1] == 1.0


@pytest.mark.parametrize("options", [{"accumulate": 3}, {"sampler": {"type": "balanced"}}])
def test_the_penalty_counts_once_per_update(
    options: dict[str, Any], tmp_path: Path, toy_encoder: Path, data: Prepared
) -> None:
    from contextlib import nullcontext

    from mtlspec.spec.models import RunOptions
    from mtlspec.train.loop import Meter, take_update
    from mtlspec.train.state import TrainState

    model = _model(toy_encoder, data, "pos", "names", **{"lambda": 1e6})  # the losses of the tasks are nothing to it
    train = TrainOptions.model_validate({"epochs": 1, "batch": {"sentences": 8, "tokens": 400}, **options})
    state = TrainState.fresh(model, Corpora.single(data), train, RunOptions(), seed=1)
    model.module.train()
    gates = _gates(model)
    shape = HardConcrete()
    wanted = torch.autograd.grad(1e6 * shape.p_open(gates).mean(), gates)[0]
    seen: list[torch.Tensor] = []
    state.optimiser.adam.register_step_pre_hook(lambda *_: seen.append(gates.grad.clone()))  # type: ignore[union-attr]
    take_update(state, train, nullcontext(), Meter())
    assert torch.allclose(seen[0], wanted, rtol=1e-3)


def test_an_interrupted_run_ends_with_the_same_bits(tmp_path: Path, toy_encoder: Path, toy_prepared: Path) -> None:
    class StopError(Exception):
        pass

    def stop(done: int, _total: int, _what: str) -> None:
        if done == 9:
            raise StopError

    params = toy.train_params(("pos", "names"), epochs=1, checkpoint_every=4, batch={"sentences": 6, "tokens": 200})
    params["sharing"] = {"type": "l0", "init": "half_open", "lambda": 1.0, "order": "penalty_then_balance"}
    toy.run_train(tmp_path / "whole", toy_encoder, toy_prepared, params)
    with pytest.raises(StopError):
        toy.run_train(tmp_path / "again", toy_encoder, toy_prepared, params, stop)
    toy.run_train(tmp_path / "again", toy_encoder, toy_prepared, params)
    for file in ("model.safetensors", "history.parquet", "model.json"):
        assert digest_file(tmp_path / "again/out" / file) == digest_file(tmp_path / "whole/out" / file), file


def test_a_relative_penalty_is_a_share_of_the_loss(toy_encoder: Path, data: Prepared) -> None:
    from contextlib import nullcontext

    from mtlspec.model.mixed import Reading
    from mtlspec.spec.models import RunOptions
    from mtlspec.train.loop import backward
    from mtlspec.train.state import TrainState

    train = TrainOptions.model_validate({"epochs": 1, "batching": "joint"})
    gradients = []
    for relative in (False, True):
        model = _model(toy_encoder, data, "pos", "names", relative=relative, **{"lambda": 1e6})
        state = TrainState.fresh(model, Corpora.single(data), train, RunOptions(), seed=1)
        model.module.eval()  # the same gates and no dropout in both
        told = backward(state, [Reading(task, data.train, torch.arange(8)) for task in (0, 1)], 1.0, nullcontext())
        gradient = _gates(model).grad
        assert gradient is not None
        gradients.append(gradient.clone())
    loss = sum(row["loss"] * row["weight"] for row in told) / len(told)
    torch.testing.assert_close(gradients[1], gradients[0] * loss, rtol=1e-3, atol=0.0)


def test_a_relative_penalty_is_not_balanced() -> None:
    options = Options(type="l0", relative=True, order="penalty_then_balance")
    assert "penalty_then_balance" in (options.problem(started=False) or "")


def test_removing_heads_under_the_gates_is_an_error_and_stays_one_on_disk(
    tmp_path: Path, toy_encoder: Path, data: Prepared
) -> None:
    model = _model(toy_encoder, data)
    batch = collate(data.train, torch.arange(4), data.specials)
    keep = torch.ones(model.encoder.heads.shape)
    keep[0, 0] = 0.0
    model.module.eval()
    with model.encoder.heads.gated(keep):
        expected = model.encoder(batch).words
    model.encoder.heads.remove(keep)
    torch.testing.assert_close(model.encoder(batch).words, expected)
    with pytest.raises(EncoderError, match="heads were removed"):
        model.states(batch, 0)
    model.save(tmp_path, tokenizer=toy_encoder)
    with pytest.raises(EncoderError, match="heads were removed"):
        load_model(tmp_path).states(batch, 0)
