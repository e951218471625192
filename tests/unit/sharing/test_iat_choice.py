"""Which heads tasks choose at the switch, what that leaves untouched, and what comes back from disk."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mtlspec.contract import training
from mtlspec.data.batching import collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError, StageError
from mtlspec.io.digest import digest_file
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.encoder.places import Places
from mtlspec.model.head_sets import top_heads
from mtlspec.model.importance import annotated_corpora, head_importance
from mtlspec.model.multitask import load_model
from mtlspec.model.sharing import Moment
from mtlspec.sharing.iat import IAT, Options
from mtlspec.spec.models import BatchLimits
from mtlspec.train.state import TrainState
from tests import toy
from tests.unit.model.encoder import many
from tests.unit.sharing.masked import advance, state_of


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def _choose(state: TrainState) -> torch.Tensor:
    """What the tasks choose before the next update, bool [T, L, H]."""
    moment = Moment(state.update + 1, state.updates, (), state.optimiser.adam, state.training_batches)
    state.model.sharing.before_update(moment)
    state.model.sharing.after_backward(moment)
    return state.model.sharing.module.get_buffer("heads").clone()


@given(st.integers(0, 100), st.integers(1, 5000))
def test_the_last_share_of_the_updates_is_masked(percent: int, updates: int) -> None:
    masked = updates - Options(type="iat", delta=percent / 100).switch(updates)
    assert masked - 1 < Fraction(percent, 100) * updates <= masked


def test_the_most_important_heads_of_all_training_data_are_chosen(toy_encoder: Path, data: Prepared) -> None:
    for method in ("gradient", "token_abs"):
        state = state_of(toy_encoder, data, {"delta": 1.0, "alpha": 0.4, "importance": method})
        model = state.model
        rows = annotated_corpora(
            model.tasks, Corpora.single(data), "train", data.specials, BatchLimits(sentences=5, tokens=500), None, 1
        )
        wanted = head_importance(model.sharing, model.tasks, rows, token_abs=method == "token_abs")
        found = _choose(state)
        assert found.sum((1, 2)).tolist() == [3, 3, 3]  # 0.4 of 8
        for own, importance in zip(found, wanted, strict=True):
            assert own.tolist() == top_heads(importance.numpy(), 3).tolist()
        least = _choose(state_of(toy_encoder, data, {"delta": 1.0, "alpha": 0.4, "select": "least"}))
        if method == "gradient":
            assert not (least & found).any()


def test_random_heads_depend_on_task_and_seed_alone(toy_encoder: Path, data: Prepared) -> None:
    options = {"delta": 1.0, "alpha": 0.5, "select": "random"}
    found = [_choose(state_of(toy_encoder, data, options, seed=seed)) for seed in (1, 2, 3, 1)]
    assert torch.equal(found[0], found[3])
    assert all(own.sum().item() == 4 for sets in found for own in sets)
    assert len({str(own.tolist()) for sets in found[:3] for own in sets}) > 6


@pytest.mark.parametrize(
    "options", [{}, {"importance": "token_abs"}, {"sentences": 7}, {"select": "random"}, {"prune_least": True}], ids=str
)
def test_choosing_leaves_training_as_it_was(options: dict[str, Any], toy_encoder: Path, data: Prepared) -> None:
    state = state_of(toy_encoder, data, {"delta": 0.95, "alpha": 0.5, **options})
    advance(state, 1, {})
    model = state.model
    model.encoder.heads.model.encoder.layer[0].eval()  # as if it were frozen
    for parameter in model.encoder.heads.model.embeddings.parameters():
        parameter.requires_grad_(False)
    for number, parameter in enumerate(model.module.parameters()):
        parameter.grad = torch.full_like(parameter, number) if number % 2 else None

    def everything() -> dict[str, Any]:
        parameters = list(model.module.parameters())
        return {
            "generator": torch.get_rng_state().tolist(),
            "numpy": np.random.get_state()[1].tolist(),  # type: ignore[union-attr, index]
            "modes": [module.training for module in model.module.modules()],
            "learns": [parameter.requires_grad for parameter in parameters],
            "gradients": [None if p.grad is None else p.grad.clone() for p in parameters],
            "weights": [parameter.detach().clone() for parameter in parameters],
            "moments": [value.clone() for value in state.optimiser.tensors().values()],
            "cursors": state.supply.cursors(),
            "sampler": state.supply.sampler.state(),
            "hooks": [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.module.modules()],
        }

    before = everything()
    while not (_choose(state) != True).any():  # noqa: E712 - the switch is some updates away
        state.update += 1
    torch.testing.assert_close(everything(), before, rtol=0, atol=0)


def test_a_sample_is_of_so_many_sentences_and_of_every_seed_its_own(toy_encoder: Path, data: Prepared) -> None:
    from mtlspec.sharing._chosen_heads import _sample

    seen = []
    for seed in (1, 2, 1):
        state = state_of(toy_encoder, data, {"delta": 1.0}, seed=seed)
        moment = Moment(1, state.updates, (), state.optimiser.adam, state.training_batches)
        batches = [batch for batch, _ in _sample(moment, 0, 11, "pos")]
        seen.append(sorted(int(row) for batch in batches for row in batch.rows))
        for batch in batches:
            alone = collate(data.train, batch.rows, data.specials)
            assert torch.equal(batch.pieces, alone.pieces) and torch.equal(batch.word_mask, alone.word_mask)
        assert sum(len(batch.rows) for batch, _ in _sample(moment, 0, 10_000, "pos")) == 120
    assert [len(set(rows)) for rows in seen] == [11, 11, 11]
    assert seen[0] == seen[2] != seen[1]


@pytest.mark.parametrize("options", [{"delta": 0.5}, {"delta": 0.5, "prune_least": True}], ids=str)
def test_a_run_that_is_stopped_on_either_side_of_the_switch_ends_with_the_same_bits(
    options: dict[str, Any], toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    sharing = {"type": "iat", "alpha": 0.3, "sentences": 20, **options}
    params = training.params(sharing=sharing, keep="last")
    model = training.check(params, tmp_path / "late", toy_encoder, toy_prepared)
    updates = json.loads((tmp_path / "late/whole/out/training.json").read_bytes())[0]["updates"]
    switch = Options.model_validate(sharing).switch(updates)
    assert 8 < switch < training.STOP
    for stop in (switch - 1, switch, switch + 1):
        folder, every = tmp_path / str(stop), {**params, "train": {**params["train"], "checkpoint_every": stop}}

        def interrupt(done: int, _total: int, _what: str, stop: int = stop) -> None:
            if done == stop:
                raise InterruptedError

        with suppress(InterruptedError):
            toy.run_train(folder, toy_encoder, toy_prepared, every, interrupt)
        toy.run_train(folder, toy_encoder, toy_prepared, every)
        for file in training.FILES:
            assert digest_file(folder / "out" / file) == digest_file(tmp_path / "late/whole/out" / file), (stop, file)
    counts = model.sharing.module.get_buffer("heads").sum((1, 2)).tolist()
    assert counts == ([6, 6] if "prune_least" in options else [2, 2])


def test_weights_of_an_epoch_before_the_switch_have_no_sets(
    toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    sharing = {"type": "iat", "delta": 0.1, "sentences": 5}
    params = {**training.params(sharing=sharing), "train": {**training.params()["train"], "epochs": 2}}
    params["train"] |= {"lr": {"encoder": 1e-30, "decoder": 1e-30}}  # nothing is learnt: the first epoch stays the best
    toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    assert load_model(tmp_path / "out").sharing.module.get_buffer("heads").all()


def test_pruned_heads_are_off_for_their_task_alone(toy_encoder: Path, data: Prepared) -> None:
    state = state_of(toy_encoder, data, {"delta": 1.0, "alpha": 0.3, "prune_least": True})
    sets = _choose(state)
    model = state.model
    model.module.eval()
    batch = collate(data.dev, torch.arange(5), data.specials)
    with torch.no_grad():
        for task in range(3):
            with model.encoder.heads.gated(sets[task].float()):
                wanted = model.encoder(batch).words
            assert torch.equal(model.states(batch, task).words, wanted)
            assert not torch.allclose(model.encoder(batch).words, wanted, atol=1e-4)


def test_heads_of_frozen_layers_are_not_chosen(toy_encoder: Path, data: Prepared) -> None:
    state = state_of(toy_encoder, data, {"delta": 1.0, "alpha": 0.5}, {"freeze": 0.5})
    sets = _choose(state)
    assert sets[:, 0].sum() == 0 and sets[:, 1].sum(1).tolist() == [2, 2, 2]
    with pytest.raises(StageError, match="all heads are frozen") as error:
        state_of(toy_encoder, data, {"delta": 1.0}, {"freeze": 1.0})
    assert error.value.code == "E940"


def test_less_than_one_head_is_an_error_when_training_begins(toy_encoder: Path, data: Prepared) -> None:
    with pytest.raises(StageError, match="of 8 heads that is not one"):
        state_of(toy_encoder, data, {"alpha": 0.1})
    assert not _choose(state_of(toy_encoder, data, {"alpha": 0.0, "delta": 1.0})).any()


def test_an_encoder_whose_layers_share_parameters_is_refused() -> None:
    model = many.build("albert")
    encoder: Any = type("Shared", (), {"heads": Heads(model, model.config), "width": 32})()
    encoder.places = Places(model, model.config)
    with pytest.raises(EncoderError, match="layers share their parameters") as error:
        IAT(encoder, ["a"], Options(type="iat"))
    assert error.value.code == "E941"


@pytest.mark.parametrize("options", [{"alpha": 1.1}, {"alpha": -0.1}, {"delta": 2}, {"sentences": 0}, {"select": "x"}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as error:
        Options.model_validate({"type": "iat", **options})
    assert error.value.error_count() == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"prune_least": True, "alpha": 1.0}, "`alpha: 1` would switch all heads off"),
        ({"prune_least": True, "select": "random"}, "leave out `select: random`"),
        ({"prune_least": True, "released": True}, "leave out `released: true`"),
        ({"prune_least": True, "output_columns": True}, "leave out `output_columns: true`"),
    ],
)
def test_options_that_contradict_each_other_are_told(options: dict[str, Any], told: str) -> None:
    problem = Options.model_validate({"type": "iat", **options}).problem(started=False)
    assert problem is not None and told in problem
    assert Options(type="iat").problem(started=False) is None
