"""What every task type, tagger, sharing strategy, sampler and balancing promises, for all files in their folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mtlspec import kinds
from mtlspec.data.batching import collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.metrics.rebuild import rebuild_metric
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import build_model, load_model
from mtlspec.model.predict import predict
from mtlspec.spec.families import BALANCE, SAMPLERS, SHARING, TAGGERS, TASKS
from mtlspec.spec.models import BatchLimits
from mtlspec.train.sampling import TaskSizes
from tests.contract import training
from tests.views import view

TAGGING = {"type": "tagging", "layer": "ner"}
EXAMPLES: dict[str, dict[str, Any]] = {  # what a task type needs on the toy data
    "biaffine_dep": {"layer": "dep"},
    "biaffine_ner": {"layer": "ner"},
    "classification": {"layer": "topic", "metric": "f1"},
    "crf_con": {"layer": "con"},
    "regression": {"layer": "size"},
    "span_srl": {"layer": "srl"},
    "tagging": {"layer": "ner"},
}
CASES = [{**TAGGING, "decoder": name} for name in kinds.names(TAGGERS)]
CASES += [{"type": name, **EXAMPLES[name]} for name in kinds.names(TASKS)]
MUTANTS = Path(__file__).parents[1] / "kinds/mutants"
NEEDED = {"static": {"weights": {"a": 1.0, "b": 2.0, "c": 0.5}}}


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def _model(encoder: Path, data: Prepared, task: dict[str, Any], sharing: str = "hard") -> Any:
    torch.manual_seed(3)
    options = kinds.options_class(TASKS, task["type"]).model_validate(task)
    strategy = kinds.options_class(SHARING, sharing)(type=sharing)
    return build_model(Encoder.load(encoder), strategy, {"x": options}, Corpora.single(data).labels({"x": options}))  # type: ignore[dict-item, arg-type]


@pytest.mark.parametrize("task", CASES, ids=str)
def test_a_task_learns_predicts_and_comes_back_from_disk(
    task: dict[str, Any], toy_encoder: Path, data: Prepared, tmp_path: Path
) -> None:
    model = _model(toy_encoder, data, task)
    (built,) = model.tasks
    gold = built.encode(data.train)
    batch = collate(data.train, built.rows(data.train)[:8], data.specials)
    optimiser = torch.optim.Adam(model.module.parameters(), lr=1e-2)
    losses = []
    for _ in range(8):
        loss = built.loss(model.states(batch, 0), batch, gold)
        losses.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        assert all(p.grad is not None for p in built.module.parameters()), "every parameter of a decoder learns"
        optimiser.step()
    assert losses[-1] < losses[0]
    model.module.eval()
    (predicted,) = predict(model, data.dev, BatchLimits()).values()
    truth = built.gold_values(data.dev)
    assert len(predicted) == len(truth) == len(data.dev)
    counts = built.metric.counts(truth, predicted)
    assert counts.shape == (len(data.dev), len(built.metric.columns))
    perfect = built.metric.score_rows(built.metric.counts(truth, truth))
    assert perfect[built.metric.main] == pytest.approx(100.0)
    metric = rebuild_metric(json.loads(json.dumps(built.metric.describe())))
    assert metric.score_rows(counts) == built.metric.score_rows(counts)
    assert metric.exchange(counts, counts, np.arange(3))(np.ones((2, 3), np.uint8)).tolist() == [0.0, 0.0]
    built.write_predictions(data.dev, predicted, tmp_path / f"x.{built.extension}")
    assert (tmp_path / f"x.{built.extension}").stat().st_size > 0
    (tmp_path / "saved").mkdir()
    model.save(tmp_path / "saved", tokenizer=toy_encoder)
    (again,) = predict(load_model(tmp_path / "saved"), data.dev, BatchLimits()).values()
    assert again == predicted


@pytest.mark.parametrize("task", CASES, ids=str)
def test_a_task_says_how_unsure_it_is_or_that_it_does_not(
    task: dict[str, Any], toy_encoder: Path, data: Prepared
) -> None:
    model = _model(toy_encoder, data, task)
    model.module.eval()
    batch = collate(data.train, torch.arange(5), data.specials)
    try:
        found = model.tasks[0].uncertainty(model.states(batch, 0), batch)
    except StageError as error:
        assert error.code == "E470"
        return
    assert found.shape == (5,)
    assert not found.requires_grad
    assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("sharing", kinds.names(SHARING))
def test_a_strategy_gives_states_and_its_state_is_json(sharing: str, toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data, TAGGING, sharing)
    batch = collate(data.train, torch.arange(4), data.specials)
    states = model.states(batch, 0)
    assert states.words.shape == (*batch.word_mask.shape, model.sharing.width)
    saved = json.loads(json.dumps(model.sharing.state()))
    model.sharing.load_state(saved)
    assert model.sharing.state() == saved
    assert set(model.sharing.logs()) == set(model.sharing.logs())


@pytest.mark.parametrize("sharing", kinds.names(SHARING))
def test_a_strategy_trains_several_tasks_resumes_and_comes_back_from_disk(
    sharing: str, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    params = training.params(sharing={"type": sharing})
    training.check(params, tmp_path, toy_encoder, toy_prepared)


def test_a_strategy_that_is_wrong_about_its_tasks_is_found(
    toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    with kinds.extended(SHARING, MUTANTS), pytest.raises(AssertionError, match="depends on the task"):
        training.check(training.params(sharing={"type": "lying"}), tmp_path, toy_encoder, toy_prepared)


def test_a_balancing_that_forgets_is_found(toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    with kinds.extended(BALANCE, MUTANTS):
        with pytest.raises(AssertionError):
            check_balance(kinds.options_class(BALANCE, "forgetful")(type="forgetful"))
        with pytest.raises(AssertionError, match="same bits"):
            training.check(training.params(balance={"type": "forgetful"}), tmp_path, toy_encoder, toy_prepared)


@pytest.mark.parametrize("name", kinds.names(SAMPLERS))
def test_a_sampler_draws_known_tasks_and_resumes_exactly(name: str) -> None:
    check_sampler(kinds.options_class(SAMPLERS, name)(type=name))


def check_sampler(options: Any) -> None:
    """Draws known tasks, at most once each; continues from its saved state."""
    assert options.problem(("a", "b", "c")) is None
    sizes = TaskSizes((90, 40, 10), (9, 4, 1))
    sampler, seen = options.build(sizes, 12, 3, 5), view(sizes)
    for _ in range(20):
        tasks = [part.task for part in sampler.draw(seen)]
        assert tasks and len(tasks) == len(set(tasks)) and set(tasks) <= {0, 1, 2}
    assert sampler.batches_per_epoch() > 0
    saved = json.loads(json.dumps(sampler.state()))
    rest = _drawn(sampler, 30)
    other = options.build(sizes, 12, 3, 5)
    other.load_state(saved)
    assert _drawn(other, 30) == rest


def _drawn(sampler: Any, number: int) -> list[Any]:
    seen = view(sampler.sizes, 2)
    return [[(part.task, part.rows.tolist()) for part in sampler.draw(seen)] for _ in range(number)]


@pytest.mark.parametrize("name", kinds.names(BALANCE))
def test_a_balancing_keeps_the_gradient_and_resumes_exactly(name: str) -> None:
    check_balance(kinds.options_class(BALANCE, name)(type=name, **NEEDED.get(name, {})))


def check_balance(options: Any) -> None:
    """Passes gradients on; saved after any of many losses, it goes on as the one that was not."""
    tasks = ("a", "b", "c")
    assert options.problem(tasks) is None
    balance = options.build(tasks)
    for step in range(40):  # more than any window holds
        loss = torch.tensor(1.0 + step * step % 7, requires_grad=True)
        weighted, weight = balance.weigh(step % 3, loss)
        weighted.backward()
        assert weight > 0 and loss.grad is not None and loss.grad.item() > 0
        other = options.build(tasks)
        other.load_state(json.loads(json.dumps(balance.state())))
        other.module.load_state_dict(balance.module.state_dict())
    for step in range(20):
        loss = torch.tensor(3.0 + step)
        assert other.weigh(step % 3, loss) == balance.weigh(step % 3, loss)
