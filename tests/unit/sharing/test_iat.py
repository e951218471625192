"""Important attention-head training: what an update may move, and what is exactly as without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.amp.grad_scaler import GradScaler

from mtlspec.data.prepared import Prepared
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.encoder.places import Places
from mtlspec.model.sharing import Moment, TaskLoss
from mtlspec.sharing.iat import IAT, Options
from mtlspec.train.state import TrainState
from tests import toy
from tests.unit.model.encoder import many
from tests.unit.sharing.masked import LATE, advance, chosen, moved, parts, state_of, tasks_of, with_gradients

BATCHES: list[dict[str, Any]] = [
    {},
    {"weight_decay": 0.1},
    {"accumulate": 2},
    {"clip": 0.01},
    {"sampler": {"type": "balanced"}},
    {"batching": "joint"},
    {"batching": "joint", "accumulate": 2, "balance": {"type": "uncertainty"}, "weight_decay": 0.1},
]


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def _sets(state: TrainState) -> list[set[tuple[int, int]]]:
    return [chosen(own) for own in state.model.sharing.module.get_buffer("heads")]


def _switched(state: TrainState, train: dict[str, Any]) -> list[set[tuple[int, int]]]:
    """Take all updates before the switch, and the first after it; of each the heads that have gradients at its step."""
    strategy, found = state.model.sharing, []
    assert isinstance(strategy, IAT)
    step = strategy.step

    def watched(moment: Moment, take: Callable[[], None]) -> None:
        found.append(with_gradients(strategy.encoder.heads))
        step(moment, take)

    strategy.step = watched  # type: ignore[method-assign]
    advance(state, strategy._options.switch(state.updates) + 1, train)
    return found


@pytest.mark.parametrize("train", BATCHES, ids=str)
def test_heads_that_no_task_of_an_update_chose_are_the_same_bits(
    train: dict[str, Any], toy_encoder: Path, data: Prepared
) -> None:
    """Their rows, and what Adam remembers of them; all others move."""
    state = state_of(toy_encoder, data, {"alpha": 0.25, "delta": LATE}, train)
    heads, adam = state.model.encoder.heads, state.optimiser.adam
    assert _sets(state) == [chosen(torch.ones(2, 4))] * 3
    *plain, first = _switched(state, train)
    sets = _sets(state)
    assert plain == [chosen(torch.ones(2, 4))] * len(plain) != []
    assert first == set.union(*(sets[task] for task in tasks_of(state)))
    assert [len(own) for own in sets] == [2, 2, 2] and len(set(map(frozenset, sets))) > 1
    for _ in range(4):
        before, rest = parts(heads, adam), {k: v.clone() for k, v in state.model.weights().items()}
        tasks = advance(state, 1, train)
        wanted = set.union(*(sets[task] for task in tasks))
        after = parts(heads, adam)
        assert {key: moved(before, after, key) for key in ("value", "exp_avg", "exp_avg_sq")} == {
            "value": wanted,
            "exp_avg": wanted,
            "exp_avg_sq": wanted,
        }
        new = state.model.weights()
        outside = [name for name in new if name.startswith("encoder.") and "self." not in name]
        assert not [name for name in outside if torch.equal(new[name], rest[name]) and "position" not in name]
    assert state.history.tensors()["heads_moved"].tolist()[-1] == len(wanted)
    assert not any(parameter._backward_hooks for parameter in state.model.module.parameters())


def test_above_frozen_layers_tasks_move_their_heads_of_the_others(toy_encoder: Path, data: Prepared) -> None:
    """What frozen layers compute is kept, and the heads of a task are chosen above them."""
    train = {"freeze": 0.5, "batching": "joint"}
    state = state_of(toy_encoder, data, {"alpha": 0.25, "delta": LATE}, train)
    state.frozen.train()
    assert state.kept.active
    advance(state, state.model.sharing._options.switch(state.updates) + 1, train)  # type: ignore[attr-defined]
    sets = _sets(state)
    assert [len(own) for own in sets] == [1, 1, 1] and {layer for own in sets for layer, _ in own} == {1}
    before = parts(state.model.encoder.heads, state.optimiser.adam)
    advance(state, 1, train)
    assert moved(before, parts(state.model.encoder.heads, state.optimiser.adam)) == set.union(*sets)


def test_output_columns_stand_still_if_asked(toy_encoder: Path, data: Prepared) -> None:
    for columns in (False, True):
        state = state_of(toy_encoder, data, {"alpha": 0.25, "delta": LATE, "output_columns": columns})
        _switched(state, {})
        heads, adam = state.model.encoder.heads, state.optimiser.adam
        before = parts(heads, adam, ["output"])
        (task,) = advance(state, 1, {})
        found = moved(before, parts(heads, adam, ["output"]))
        assert found == (_sets(state)[task] if columns else chosen(torch.ones(2, 4)))


def test_released_masks_gradients_alone(toy_encoder: Path, data: Prepared) -> None:
    """All heads move on by their momentum, which fades where a task has not chosen them."""
    state = state_of(toy_encoder, data, {"alpha": 0.25, "delta": LATE, "released": True})
    _switched(state, {})
    heads, adam = state.model.encoder.heads, state.optimiser.adam
    before = parts(heads, adam)
    (task,) = advance(state, 1, {})
    after = parts(heads, adam)
    assert moved(before, after) == chosen(torch.ones(2, 4))
    others = [key for key in before if key[:2] not in _sets(state)[task]]
    for key in (key for key in others if key[2].endswith("exp_avg")):
        torch.testing.assert_close(after[key], 0.9 * before[key])


def test_with_all_heads_an_update_is_a_plain_one(toy_encoder: Path, data: Prepared) -> None:
    """To the bit, through the masks themselves."""
    ends = []
    for masked in (False, True):
        state = state_of(toy_encoder, data, {"delta": 0.0})
        if masked:
            state.model.sharing = IAT(
                state.model.encoder, state.model.sharing.names, Options(type="iat", alpha=1.0, delta=1.0)
            )
            state.model.sharing.attach(state.model.tasks)
        advance(state, 4, {})
        ends.append(state.model.module.state_dict())
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())


@pytest.mark.parametrize("options", [{"alpha": 1.0, "delta": 0.5}, {"delta": 0.0}, {"delta": 0, "prune_least": True}])
def test_the_limits_of_alpha_and_delta_are_hard_sharing_to_the_bit(
    options: dict[str, Any], toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    params = toy.train_params(epochs=1)
    toy.run_train(tmp_path / "hard", toy_encoder, toy_prepared, params)
    toy.run_train(tmp_path / "iat", toy_encoder, toy_prepared, {**params, "sharing": {"type": "iat", **options}})
    for file in ("model.safetensors", "history.parquet", "epochs.json"):
        assert (tmp_path / "hard/out" / file).read_bytes() == (tmp_path / "iat/out" / file).read_bytes()


def test_with_other_precisions_and_a_step_that_is_skipped(toy_encoder: Path, data: Prepared) -> None:
    """A scaler multiplies losses, takes that back before clipping, and skips a step whose gradients overflow."""
    train = {"sampler": {"type": "balanced"}, "weight_decay": 0.1}
    state = state_of(toy_encoder, data, {"alpha": 0.25, "delta": LATE}, train)
    state.scaler = GradScaler("cpu", init_scale=64.0, growth_interval=1000)
    mixed = torch.autocast("cpu", dtype=torch.bfloat16)
    _switched(state, train)
    heads, adam = state.model.encoder.heads, state.optimiser.adam
    before = parts(heads, adam)
    tasks = advance(state, 1, train, mixed)
    assert moved(before, parts(heads, adam)) == set.union(*(_sets(state)[task] for task in tasks))
    state.scaler.update(1e38)
    before = parts(heads, adam)
    advance(state, 1, train, mixed)
    assert moved(before, parts(heads, adam)) == set()


@settings(max_examples=15)
@given(
    sets=st.lists(st.integers(0, 255), min_size=3, max_size=3),
    weights=st.lists(st.floats(0.1, 3), min_size=3, max_size=3),
)
def test_gradients_of_several_tasks_are_sums_over_those_that_chose_a_head(
    sets: list[int], weights: list[float], toy_encoder: Path, data: Prepared
) -> None:
    """Against separate backward passes, with scales and weights as mixed batches have them."""
    state = state_of(toy_encoder, data, {"delta": 1.0}, {"batching": "joint"})
    model, strategy = state.model, state.model.sharing
    assert isinstance(strategy, IAT)
    model.module.eval()
    masks = torch.tensor([[own >> bit & 1 for bit in range(8)] for own in sets]).bool().view(3, 2, 4)
    strategy.module.get_buffer("heads").copy_(masks)
    strategy._changed()
    batch, _ = next(state.training_batches(0))
    states = model.states(batch, 0)
    losses = [
        TaskLoss(task, model.tasks[task].loss(states, batch, state.gold[task]), share)
        for task, share in enumerate((0.5, 0.3, 0.2))
    ]
    wanted = _wanted(state, losses, weights, masks)
    strategy.before_update(Moment(2, 2, (), state.optimiser.adam, state.training_batches))
    total = strategy.objective(losses, lambda task, loss: loss * weights[task])
    (total * 8).backward()  # type: ignore[no-untyped-call]
    strategy.after_backward(Moment(2, 2, (0, 1, 2), state.optimiser.adam, state.training_batches))
    for name, parameter in model.module.named_parameters():
        if name in wanted:
            torch.testing.assert_close(parameter.grad, wanted[name], rtol=1e-4, atol=1e-5)


def _wanted(
    state: TrainState, losses: list[TaskLoss], weights: list[float], masks: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Gradients, task by task, without the heads of others."""
    named = dict(state.model.module.named_parameters())
    heads, sums = state.model.encoder.heads, {name: torch.zeros_like(value) for name, value in named.items()}
    for task, loss, share in losses:
        found = torch.autograd.grad(
            8 * share * weights[task] * loss, list(named.values()), retain_graph=True, allow_unused=True
        )
        own = {
            name: torch.zeros_like(p) if g is None else g.clone()
            for (name, p), g in zip(named.items(), found, strict=True)
        }
        by_id = {id(parameter): own[name] for name, parameter in named.items()}
        for layer in range(2):
            for part in (part for part in heads.slices(layer) if part.role != "output"):
                for head in range(4):
                    if not masks[task, layer, head]:
                        by_id[id(part.parameter)].narrow(part.axis, part.starts[head], part.width).zero_()
        for name, value in own.items():
            sums[name] += value
    used = {name for name, value in sums.items() if value.any() or ".self." in name}
    return {name: sums[name] for name in used}


@pytest.mark.parametrize("family", [family for family in many.FAMILIES if family != "albert"])
def test_rows_of_every_family_stand_still(family: str) -> None:
    """Queries, keys and values may share a transposed parameter, or lie by head; positions may have their own."""
    model = many.build(family)
    heads = Heads(model, model.config)
    encoder: Any = SimpleNamespace(heads=heads, places=Places(model, model.config), width=32)
    strategy = IAT(encoder, ["a", "b"], Options(type="iat", delta=1.0))
    masks = torch.rand(2, *heads.shape, generator=torch.Generator().manual_seed(4)) < 0.5
    strategy.module.get_buffer("heads").copy_(masks)
    strategy._changed()
    adam = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
    for update, task in enumerate((0, 1, 0), start=2):
        moment = Moment(update, 9, (task,), adam, lambda _: iter(()))
        before = parts(heads, adam)
        strategy.before_update(moment)
        loss = many.states(model).square().mean()
        strategy.objective([TaskLoss(task, loss, 1.0)], lambda _, found: found).backward()  # type: ignore[no-untyped-call]
        strategy.after_backward(moment)
        strategy.step(moment, adam.step)  # type: ignore[arg-type]
        adam.zero_grad()
        after = parts(heads, adam)
        assert moved(before, after) == chosen(masks[task])
        assert moved(before, after, "exp_avg") == chosen(masks[task])
