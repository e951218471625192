"""The training loop: what an update does, which weights are kept, when it stops."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest
import torch

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import SetupError, StageError
from mtlspec.io.digest import digest_tree
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel, build_model
from mtlspec.model.sharing import Balancing, Moment, ParameterGroup, Sharing, TaskLoss
from mtlspec.spec.families import SHARING, TASKS, SharingOptions, TaskOptions
from mtlspec.spec.models import RunOptions, TrainOptions
from mtlspec.stages.context import silent
from mtlspec.train import loop
from mtlspec.train.checkpoint import ResumePoints
from mtlspec.train.determinism import make_deterministic
from mtlspec.train.loop import Meter, take_update, train
from mtlspec.train.optimiser import parameter_groups
from mtlspec.train.state import TrainState
from tests import toy


def options(**values: Any) -> TrainOptions:
    return TrainOptions.model_validate(toy.train_params(**values)["train"])


def model_of(encoder: Path, data: Prepared, tasks: Sequence[str] = ("pos", "names")) -> MultiTaskModel:
    make_deterministic(1, RunOptions())
    kinds = {
        name: cast(TaskOptions, options_class(TASKS, "tagging").model_validate({**toy.TASKS[name], "dropout": 0.0}))
        for name in tasks
    }
    hard = cast(SharingOptions, options_class(SHARING, "hard").model_validate({"type": "hard"}))
    return build_model(Encoder.load(encoder), hard, kinds, Corpora.single(data).labels(kinds))


@pytest.fixture(scope="module")
def calm_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without dropout."""
    return toy.write_encoder(tmp_path_factory.mktemp("calm"), dropout=0.0)


@pytest.fixture(scope="module")
def same_length(tmp_path_factory: pytest.TempPathFactory, calm_encoder: Path) -> Prepared:
    """Sentences of five words and five pieces, so that means over words are means over sentences."""
    alike = [
        s for s in toy.corpus(1, 3000) if len(s.words) == 5 and not any(w.endswith(("son", "corp")) for w in s.words)
    ]
    splits = {"train": alike[:32], "dev": alike[32:40], "test": alike[40:48]}
    return Prepared.load(toy.write_prepared(tmp_path_factory.mktemp("alike"), calm_encoder, splits))


def gradient_step(encoder: Path, data: Prepared, accumulate: int, sentences: int) -> tuple[TrainState, dict[str, Any]]:
    chosen = options(
        accumulate=accumulate, batch={"sentences": sentences, "tokens": 9999}, clip=None, balance={"type": "none"}
    )
    state = TrainState.fresh(model_of(encoder, data, ["pos"]), Corpora.single(data), chosen, RunOptions(), seed=1)
    state.model.module.train()
    gradients: dict[str, Any] = {}

    def keep(*_: Any) -> None:
        named = state.model.module.named_parameters()
        gradients.update({name: p.grad.clone() for name, p in named if p.grad is not None})

    state.optimiser.adam.register_step_pre_hook(keep)
    take_update(state, chosen, nullcontext(), Meter())
    return state, gradients


def test_two_accumulated_halves_are_one_batch(calm_encoder: Path, same_length: Prepared) -> None:
    """All 32 sentences in one batch, or in two: the same gradient and the same weights."""
    whole, gradient = gradient_step(calm_encoder, same_length, accumulate=1, sentences=32)
    halves, other = gradient_step(calm_encoder, same_length, accumulate=2, sentences=16)
    assert gradient.keys() == other.keys()
    for name, value in gradient.items():
        torch.testing.assert_close(other[name], value, rtol=0, atol=1e-6)
    assert whole.update == halves.update == 1
    assert (len(whole.history), len(halves.history)) == (1, 2)


def test_clipping_scales_the_global_norm_and_records_the_one_before(calm_encoder: Path, same_length: Prepared) -> None:
    state, _ = gradient_step(calm_encoder, same_length, accumulate=1, sentences=32)
    parameters = state.optimiser.parameters
    for parameter in parameters:
        parameter.grad = torch.full_like(parameter, 0.5)
    expected = 0.5 * sum(p.numel() for p in parameters) ** 0.5
    assert state.optimiser.clip(None) == pytest.approx(expected, rel=1e-5)
    assert state.optimiser.clip(2 * expected) == pytest.approx(expected, rel=1e-5)
    assert state.optimiser.clip(1.0) == pytest.approx(expected, rel=1e-5)
    assert state.optimiser.clip(None) == pytest.approx(1.0, rel=1e-4)


def test_an_update_moves_only_the_drawn_task_and_the_encoder(calm_encoder: Path, same_length: Prepared) -> None:
    chosen = options(sampler={"type": "round_robin"})
    state = TrainState.fresh(
        model_of(calm_encoder, same_length), Corpora.single(same_length), chosen, RunOptions(), seed=1
    )
    for _ in range(2):  # both decoders have moments now
        take_update(state, chosen, nullcontext(), Meter())
    before = {name: value.clone() for name, value in state.model.weights().items()}
    take_update(state, chosen, nullcontext(), Meter())
    moved = {name for name, value in state.model.weights().items() if not torch.equal(value, before[name])}
    assert any(name.startswith("encoder.") for name in moved)
    assert any(name.startswith("tasks.pos.") for name in moved)
    assert not any(name.startswith("tasks.names.") for name in moved)


def scored(monkeypatch: pytest.MonkeyPatch, means: Sequence[float]) -> None:
    """Dev scores of our own choosing."""
    wanted = iter(means)
    monkeypatch.setattr(loop, "mean_score", lambda _model, _scores: next(wanted))


def test_the_best_epoch_is_kept_and_training_stops_early(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, calm_encoder: Path, same_length: Prepared
) -> None:
    scored(monkeypatch, [50.0, 70.0, 60.0, 69.9])
    best: dict[str, Any] = {}
    chosen = options(epochs=4, patience=0.5, plateau={"factor": 0.5, "patience": 1}, schedule="constant", warmup=0.0)
    finish = loop.finish_epoch

    def watch(state: TrainState, given: TrainOptions) -> None:
        if len(state.epochs) == 1:
            best.update({name: value.clone() for name, value in state.model.weights().items()})
        finish(state, given)

    monkeypatch.setattr(loop, "finish_epoch", watch)
    model = model_of(calm_encoder, same_length)
    outcome = train(model, Corpora.single(same_length), chosen, RunOptions(), 1, ResumePoints(tmp_path, "x"), silent)
    assert [epoch["best"] for epoch in outcome.epochs] == [True, True, False, False]
    assert all(torch.equal(value, best[name]) for name, value in model.weights().items())
    outcome.history.write(tmp_path / "history.parquet", ["pos", "names"])
    rates = pq.read_table(tmp_path / "history.parquet").to_pydict()
    by_epoch = dict(zip(rates["epoch"], rates["lr_decoder"], strict=True))
    assert by_epoch == {1: 0.01, 2: 0.01, 3: 0.01, 4: 0.005}


def test_patience_ends_a_run_before_its_epochs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, calm_encoder: Path, same_length: Prepared
) -> None:
    scored(monkeypatch, [50.0, 40.0])
    model = model_of(calm_encoder, same_length)
    chosen = options(epochs=4, patience=0.25)
    outcome = train(model, Corpora.single(same_length), chosen, RunOptions(), 1, ResumePoints(tmp_path, "x"), silent)
    assert len(outcome.epochs) == 2


@pytest.mark.parametrize(("where", "code"), [("loss", "E430"), ("gradient", "E431")])
def test_a_number_that_is_not_finite_names_task_and_update(
    where: str, code: str, calm_encoder: Path, same_length: Prepared
) -> None:
    state = TrainState.fresh(
        model_of(calm_encoder, same_length, ["pos"]), Corpora.single(same_length), options(), RunOptions(), 1
    )
    take_update(state, options(), nullcontext(), Meter())
    if where == "loss":
        with torch.no_grad():
            next(state.model.tasks[0].module.parameters()).fill_(float("nan"))
    else:
        next(state.model.encoder.parameters()).register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(StageError, match=r"'pos' is (nan|inf) at update 2") as caught:
        take_update(state, options(), nullcontext(), Meter())
    assert caught.value.code == code


def test_a_task_without_training_sentences_is_named(
    monkeypatch: pytest.MonkeyPatch, calm_encoder: Path, same_length: Prepared
) -> None:
    model = model_of(calm_encoder, same_length)
    monkeypatch.setattr(model.tasks[1], "rows", lambda _split: torch.empty(0, dtype=torch.int64))
    with pytest.raises(StageError, match="no training sentences for the task 'names'"):
        TrainState.fresh(model, Corpora.single(same_length), options(), RunOptions(), seed=1)


def test_mixed_precision_on_a_cpu_and_missing_devices_are_refused() -> None:
    with pytest.raises(SetupError, match="precision bf16 on a CPU"):
        make_deterministic(1, RunOptions(precision="bf16"))
    with pytest.raises(SetupError, match="no device 'cuda:63'"):
        make_deterministic(1, RunOptions(device="cuda:63"))


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_parameter_groups_cover_everything_once(decay: float, calm_encoder: Path, same_length: Prepared) -> None:
    chosen = options(weight_decay=decay, balance={"type": "uncertainty"})
    state = TrainState.fresh(
        model_of(calm_encoder, same_length), Corpora.single(same_length), chosen, RunOptions(), seed=1
    )
    held = [id(p) for p in state.optimiser.parameters]
    wanted = {id(p) for p in (*state.model.module.parameters(), *state.balance.module.parameters())}
    assert len(held) == len(set(held))
    assert set(held) == wanted
    for group in state.optimiser.adam.param_groups:
        assert group["base"] == (1e-3 if group["name"] == "encoder" else 1e-2)
        if decay:
            assert all((p.ndim > 1) == (group["weight_decay"] == decay) for p in group["params"])


class Watching(Sharing):
    """Uses every hook of a strategy: a parameter with a rate of its own, an objective, logs, state, moments."""

    def __init__(self, encoder: Encoder, tasks: Sequence[str]) -> None:
        super().__init__(encoder, tasks)
        self.gate = torch.nn.Parameter(torch.ones(()))
        self.module.register_parameter("gate", self.gate)
        self.moments: list[Moment] = []
        self.called: list[str] = []
        self.sizes: list[int] = []

    def groups(self, updates: int) -> list[ParameterGroup]:
        return [ParameterGroup("gates", (self.gate,), 4 / updates)]

    def objective(self, losses: Sequence[TaskLoss], balance: Balancing) -> torch.Tensor:
        self.called.append("objective")
        return super().objective(losses, balance) + self.gate

    def before_update(self, moment: Moment) -> None:
        assert moment.tasks == ()
        self.called.append("before")

    def after_backward(self, moment: Moment) -> None:
        self.called.append("backward")
        assert self.gate.grad is not None and self.gate.grad.item() == 1.0
        self.sizes.append(sum(len(batch.rows) for batch, _ in moment.training_batches(moment.tasks[0])))

    def step(self, moment: Moment, step: Callable[[], None]) -> None:
        before = self.gate.item()
        step()
        self.called.append("step")
        assert self.gate.item() != before

    def after_update(self, moment: Moment) -> None:
        self.called.append("after")
        self.moments.append(moment)

    def logs(self) -> dict[str, float]:
        return {"gate": self.gate.item()}


def test_a_sharing_strategy_reaches_the_whole_loop(tmp_path: Path, calm_encoder: Path, same_length: Prepared) -> None:
    plain = model_of(calm_encoder, same_length)
    strategy = Watching(plain.encoder, ["pos", "names"])
    model = MultiTaskModel(plain.encoder, strategy, plain._sharing_options, plain.tasks)
    chosen = options(epochs=1, sampler={"type": "balanced"}, clip=None)
    groups = {group.name: group for group in parameter_groups(model, torch.nn.Module(), chosen, 8)}
    assert groups["gates"].parameters == (strategy.gate,)
    assert groups["gates"].lr == 0.5
    outcome = train(model, Corpora.single(same_length), chosen, RunOptions(), 1, ResumePoints(tmp_path, "x"), silent)
    assert outcome.updates == 8  # 32 sentences of two tasks, 8 a batch
    assert [moment.update for moment in strategy.moments] == list(range(1, 9))
    assert {moment.tasks for moment in strategy.moments} == {(0, 1)}
    assert set(strategy.sizes) == {32}
    assert strategy.called == ["before", "objective", "backward", "step", "after"] * 8
    outcome.history.write(tmp_path / "history.parquet", ["pos", "names"])
    table = pq.read_table(tmp_path / "history.parquet").to_pydict()
    assert table["task"] == ["pos", "names"] * 8
    assert table["gate"] == pytest.approx([1 - 0.5 * (i // 2 + 1) for i in range(16)], abs=1e-3)  # Adam's steady step
    assert "sharing.gate" in model.weights()


def test_two_runs_give_the_same_bytes_and_another_seed_does_not(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    def run(name: str, seed: int) -> dict[str, str]:
        toy.run_train(tmp_path / name, toy_encoder, toy_prepared, toy.train_params(epochs=1, seed=seed))
        return digest_tree(tmp_path / name / "out")

    first = run("first", 1)
    assert first == run("second", 1)
    assert {"model.safetensors", "model.json", "history.parquet", "epochs.json", "encoder/config.json"} <= first.keys()
    assert run("third", 2)["model.safetensors"] != first["model.safetensors"]


def test_history_has_a_row_for_every_part(tmp_path: Path, toy_encoder: Path, toy_prepared: Path) -> None:
    result = toy.run_train(tmp_path, toy_encoder, toy_prepared, toy.train_params(epochs=2))
    table = pq.read_table(tmp_path / "out/history.parquet").to_pydict()
    assert table["update"] == list(range(1, result.facts["updates"] + 1))
    assert set(table["task"]) == {"pos", "ner"}
    assert set(table["epoch"]) == {1, 2}
    assert all(
        value > 0 for name in ("loss", "weight", "lr_encoder", "lr_decoder", "grad_norm") for value in table[name]
    )
    epochs = json.loads((tmp_path / "out/epochs.json").read_bytes())
    best = next(epoch for epoch in reversed(epochs) if epoch["best"])
    assert result.scores["dev/mean"] == best["mean"]
    assert result.scores["dev/ner/f1"] == best["scores"]["ner"]["f1"]
