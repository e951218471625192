"""Head importance: against finite differences, against a loop over sentences, and without traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.data.batching import collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.importance import (
    ablation_importance,
    annotated_batches,
    annotated_corpora,
    head_importance,
    mean_losses,
    sample_rows,
    sentence_losses,
)
from mtlspec.model.multitask import MultiTaskModel, build_model
from mtlspec.spec.families import SHARING, TASKS
from mtlspec.spec.models import BatchLimits
from tests import toy

LIMITS = BatchLimits(sentences=5, tokens=200)
ROWS = torch.arange(12)


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


@pytest.fixture(scope="module")
def model(toy_encoder: Path, data: Prepared) -> MultiTaskModel:
    return _model(toy_encoder, data)


def _model(encoder: Path, data: Prepared, max_pieces: int | None = None, sharing: str = "hard") -> MultiTaskModel:
    torch.manual_seed(3)
    tasks = {name: options_class(TASKS, "tagging").model_validate(toy.TASKS[name]) for name in ("pos", "ner")}
    strategy: Any = options_class(SHARING, sharing).model_validate({"type": sharing})
    built = build_model(Encoder.load(encoder, 0.2, max_pieces), strategy, tasks, Corpora.single(data).labels(tasks))  # type: ignore[arg-type]
    built.module.train()
    return built


def _batches(model: MultiTaskModel, data: Prepared, rows: torch.Tensor | None = ROWS) -> list[Any]:
    return list(annotated_batches(model.tasks, data.train, data.specials, LIMITS, rows))


def _loss(model: MultiTaskModel, data: Prepared, task: int, row: int, gates: torch.Tensor) -> torch.Tensor:
    """The loss of one sentence alone, under gates [L, H]."""
    batch = collate(data.train, torch.tensor([row]), data.specials)
    with model.encoder.heads.gated(gates):
        return model.tasks[task].loss(model.states(batch, task), batch, model.tasks[task].encode(data.train))


def test_it_is_the_mean_over_sentences_of_each_ones_own_derivative(model: MultiTaskModel, data: Prepared) -> None:
    found = head_importance(model.sharing, model.tasks, _batches(model, data))
    assert found.shape == (2, 2, 4)
    model.module.eval()
    for task in range(2):
        total = torch.zeros(2, 4)
        for row in ROWS.tolist():
            gates = torch.ones(2, 4, requires_grad=True)
            total += torch.autograd.grad(_loss(model, data, task, row, gates), gates)[0].abs()
        assert torch.allclose(found[task].float(), total / len(ROWS), rtol=1e-4, atol=1e-7)
    model.module.train()


def test_it_agrees_with_finite_differences(toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data)
    found = head_importance(model.sharing, model.tasks, _batches(model, data, torch.tensor([7])))
    model.module.eval()
    step = 0.1
    for task in range(2):
        for layer, head in ((0, 0), (0, 3), (1, 2)):
            losses = []
            for sign in (1, -1):
                gates = torch.ones(2, 4)
                gates[layer, head] += sign * step
                losses.append(_loss(model, data, task, 7, gates).item())
            slope = abs(losses[0] - losses[1]) / (2 * step)
            assert found[task, layer, head].item() == pytest.approx(slope, rel=0.01, abs=5e-6)


def test_it_is_the_product_of_contexts_and_their_gradients(model: MultiTaskModel, data: Prepared) -> None:
    row = torch.tensor([4])
    batch = collate(data.train, row, data.specials)
    model.module.eval()
    with model.encoder.heads.captured(attention=False) as seen:
        states = model.states(batch, 0)
    loss = model.tasks[0].loss(states, batch, model.tasks[0].encode(data.train))
    gradients = torch.autograd.grad(loss, seen.contexts)
    products = [(g * c).sum((0, 1, 3)) for g, c in zip(gradients, seen.contexts, strict=True)]
    by_token = [(g * c).sum(3).abs().sum((0, 1)) for g, c in zip(gradients, seen.contexts, strict=True)]
    model.module.train()
    batches = _batches(model, data, row)
    found = head_importance(model.sharing, model.tasks[:1], [(b, g[:1]) for b, g in batches])
    assert torch.allclose(found[0].float(), torch.stack(products).abs(), rtol=1e-4, atol=1e-7)
    tokens = head_importance(model.sharing, model.tasks[:1], [(b, g[:1]) for b, g in batches], token_abs=True)
    assert torch.allclose(tokens[0].float(), torch.stack(by_token), rtol=1e-4, atol=1e-7)


def test_by_token_is_never_less(model: MultiTaskModel, data: Prepared) -> None:
    batches = _batches(model, data)
    whole = head_importance(model.sharing, model.tasks, batches)
    by_token = head_importance(model.sharing, model.tasks, batches, token_abs=True)
    assert (by_token >= whole - 1e-9).all()
    assert (by_token > 1.01 * whole).any()


@pytest.mark.parametrize("sharing", ["hard", "l0"])
def test_nothing_is_left_behind(sharing: str, toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data, sharing=sharing)
    model.tasks[1].module.requires_grad_(False)
    modes = [(module, module.training) for module in model.module.modules()]
    trained = [p.requires_grad for p in model.module.parameters()]
    weights = {name: value.clone() for name, value in model.weights().items()}
    rng = torch.get_rng_state()
    batches = _batches(model, data)
    head_importance(model.sharing, model.tasks, batches)
    ablation_importance(model.sharing, model.tasks, batches[:1])
    assert all(p.grad is None for p in model.module.parameters())
    assert [(module, module.training) for module in model.module.modules()] == modes
    assert [p.requires_grad for p in model.module.parameters()] == trained
    assert all(torch.equal(value, weights[name]) for name, value in model.weights().items())
    assert torch.equal(torch.get_rng_state(), rng)
    assert not model.encoder.heads.active


def test_gates_of_the_strategy_stay_in_force(toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data, sharing="l0")
    with torch.no_grad():
        model.sharing.module["gates"][1, 2] = -5.0  # type: ignore[index]
    found = head_importance(model.sharing, model.tasks, _batches(model, data))
    assert (found[:, 1, 2] == 0).all() and (found[:, 0] > 0).all()


def test_batching_does_not_matter(model: MultiTaskModel, data: Prepared) -> None:
    one = list(annotated_batches(model.tasks, data.train, data.specials, BatchLimits(sentences=1, tokens=99), ROWS))
    many = _batches(model, data)
    assert len(one) == 12 > len(many)
    alone = head_importance(model.sharing, model.tasks, one)
    together = head_importance(model.sharing, model.tasks, many)
    assert torch.allclose(alone, together, rtol=1e-4, atol=1e-7)


def test_long_sentences_are_read_in_windows(toy_encoder: Path, data: Prepared) -> None:
    model = _model(toy_encoder, data, max_pieces=10)
    row = int(data.train.piece_counts.argmax())
    assert data.train.piece_counts[row] > 10
    batches = _batches(model, data, torch.tensor([row]))
    found = head_importance(model.sharing, model.tasks, batches)
    model.module.eval()
    gates = torch.ones(2, 4, requires_grad=True)
    own = torch.autograd.grad(_loss(model, data, 1, row, gates), gates)[0].abs()
    assert torch.allclose(found[1].float(), own, rtol=1e-4, atol=1e-7)
    with pytest.raises(EncoderError, match="E370"):
        head_importance(model.sharing, model.tasks, batches, token_abs=True)


def test_ablation_is_the_growth_of_the_mean_loss(model: MultiTaskModel, data: Prepared) -> None:
    batches = _batches(model, data)
    found = ablation_importance(model.sharing, model.tasks, batches)
    gates = torch.ones(2, 4)
    whole = mean_losses(model.sharing, model.tasks, batches, gates)
    gates[1, 3] = 0
    assert torch.equal(found[:, 1, 3], mean_losses(model.sharing, model.tasks, batches, gates) - whole)
    assert found.shape == (2, 2, 4) and (found != 0).all()


def test_losses_of_sentences_average_to_the_batchs_loss_by_words(model: MultiTaskModel, data: Prepared) -> None:
    model.module.eval()
    batch = collate(data.train, ROWS, data.specials)
    for number, task in enumerate(model.tasks):
        gold = task.encode(data.train)
        states = model.states(batch, number)
        losses = sentence_losses(task, states, batch, gold)
        words = batch.word_mask.sum(1)
        assert (losses * words).sum().item() / words.sum().item() == pytest.approx(
            task.loss(states, batch, gold).item(), rel=1e-5
        )
    model.module.train()


def test_sentences_without_a_tasks_annotation_do_not_count_for_it(model: MultiTaskModel, data: Prepared) -> None:
    class Partly:
        """Only even sentences carry this task."""

        def __init__(self, task: Any) -> None:
            self._task = task

        def __getattr__(self, name: str) -> Any:
            return getattr(self._task, name)

        def rows(self, split: Any) -> torch.Tensor:
            return torch.arange(0, len(split), 2)

    tasks = (model.tasks[0], Partly(model.tasks[1]))
    batches = list(annotated_batches(tasks, data.train, data.specials, LIMITS, ROWS))  # type: ignore[arg-type]
    found = head_importance(model.sharing, tasks, batches)  # type: ignore[arg-type]
    even = head_importance(model.sharing, model.tasks, _batches(model, data, ROWS[::2]))
    whole = head_importance(model.sharing, model.tasks, _batches(model, data))
    assert torch.allclose(found[0], whole[0], rtol=1e-4) and torch.allclose(found[1], even[1], rtol=1e-4)


def test_samples_are_different_rows_and_the_same_every_time() -> None:
    rows = sample_rows(100, 30, seed=5)
    assert rows is not None and len(set(rows.tolist())) == 30 and rows.tolist() == sorted(rows.tolist())
    assert rows.max() < 100 and torch.equal(rows, sample_rows(100, 30, seed=5))  # type: ignore[arg-type]
    assert not torch.equal(rows, sample_rows(100, 30, seed=6))  # type: ignore[arg-type]
    assert sample_rows(100, 100, seed=5) is None and sample_rows(100, None, seed=5) is None


def test_tasks_of_several_corpora_have_gold_in_the_batches_of_their_own(toy_encoder, data):
    model = _model(toy_encoder, data)
    first, *others = model.tasks
    first.corpus, half = "one", torch.arange(0, len(data.train), 2)
    first.rows = lambda split: half  # half of the sentences are annotated
    for task in others:
        task.corpus = "two"
    corpora = Corpora({"one": data, "two": data})
    batches = list(annotated_corpora(model.tasks, corpora, "train", data.specials, LIMITS, 6, 3))
    rows = {0: [], 1: []}
    for batch, golds in batches:
        present = [gold is not None for gold in golds]
        assert present in ([True, *[False] * len(others)], [False, *[True] * len(others)])
        rows[present.index(True)] += batch.rows.tolist()
    assert len(rows[0]) == len(rows[1]) == 6 and all(row % 2 == 0 for row in rows[0])
    found = head_importance(model.sharing, model.tasks, batches)
    alone = head_importance(model.sharing, model.tasks[:1], [(b, g[:1]) for b, g in batches if g[0] is not None])
    torch.testing.assert_close(found[:1], alone)
