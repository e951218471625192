"""Distillation: every loss against one written out by hand, students with fewer layers, exact resume, bad teachers."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from mtlspec.data.batching import Batch, collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError, StageError
from mtlspec.io.digest import digest_tree
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.mixed import Reading
from mtlspec.model.multitask import MultiTaskModel, build_model, load_model
from mtlspec.sharing.hard import Options as Hard
from mtlspec.spec.families import TASKS, TaskOptions
from mtlspec.spec.models import RunOptions
from mtlspec.spec.train_parts import Distil
from mtlspec.stages.context import Progress, StageContext, silent
from mtlspec.stages.train import run
from mtlspec.train.determinism import make_deterministic
from mtlspec.train.distilling import Distiller
from tests import toy

OWN: dict[str, dict[str, Any]] = {
    "topic": {"type": "classification", "layer": "topic", "dropout": 0.0},
    "size": {"type": "regression", "layer": "size", "dropout": 0.0},
}
WEIGHTS = ("embeddings", "hidden", "attention")
NOTHING = {"teacher": "big", "prediction": 0.0}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy.write_encoder(tmp_path_factory.mktemp("calm"), dropout=0.0)


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def model_of(encoder: Path, data: Prepared, seed: int, kept: tuple[int, ...] = (1, 2)) -> MultiTaskModel:
    """With weights of its own, so that teacher and student differ everywhere."""
    make_deterministic(seed, RunOptions())
    kinds = {
        name: cast(TaskOptions, options_class(TASKS, own["type"]).model_validate(own)) for name, own in OWN.items()
    }
    built = Encoder.load(encoder)
    built.keep_layers(kept)
    model = build_model(built, Hard(type="hard"), kinds, Corpora.single(data).labels(kinds))
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    model.module.eval()
    return model


@pytest.fixture(scope="module")
def teacher(encoder: Path, data: Prepared) -> MultiTaskModel:
    return model_of(encoder, data, 1)


@pytest.fixture(scope="module")
def student(encoder: Path, data: Prepared) -> MultiTaskModel:
    return model_of(encoder, data, 2)


def loss_of(student: MultiTaskModel, teacher: MultiTaskModel, data: Prepared, task: int = 0, **weights: Any) -> Tensor:
    distiller = Distiller(Distil(**{**NOTHING, **weights}), student, dict.fromkeys(OWN, teacher))
    gold = student.tasks[task].encode(data.train)
    return distiller.loss(Reading(task, data.train, torch.arange(7)), gold)


def layers_of(model: MultiTaskModel, batch: Batch) -> tuple[list[Tensor], list[Tensor]]:
    """States behind embeddings and layers, and attention scores, by transformers' own outputs and by hand."""
    bert: Any = cast(Any, model.encoder).model
    states = list(bert(batch.pieces, batch.piece_mask, output_hidden_states=True).hidden_states)
    scores = []
    for layer, before in zip(bert.encoder.layer, states, strict=False):
        own = layer.attention.self
        rows, length, _ = before.shape
        query, key = (part(before).view(rows, length, 4, 8).transpose(1, 2) for part in (own.query, own.key))
        scores.append(query @ key.transpose(2, 3) / 8**0.5)
    return states, scores


def by_hand(ours: list[Tensor], theirs: list[Tensor], mask: Tensor, pairs: bool) -> float:
    """Row by row, without a mask: only sub-tokens that are there are looked at."""
    total = 0.0
    for a, b in zip(ours, theirs, strict=True):
        squares = []
        for row, count in enumerate(mask.sum(1).tolist()):
            own = (a[row] - b[row]) ** 2
            squares.append((own[:, :count, :count] if pairs else own[:count]).flatten())
        total += torch.cat(squares).mean().item()
    return total


def test_layers_and_attention_are_compared_where_there_are_sub_tokens(
    student: MultiTaskModel, teacher: MultiTaskModel, data: Prepared
) -> None:
    batch = collate(data.train, torch.arange(7), student.encoder.specials)
    assert not batch.piece_mask.all()
    with torch.no_grad():
        ours, theirs = layers_of(student, batch), layers_of(teacher, batch)
        found = {name: loss_of(student, teacher, data, **{name: 2.0}).item() for name in WEIGHTS}
    expected = {
        "embeddings": 2 * by_hand(ours[0][:1], theirs[0][:1], batch.piece_mask, pairs=False),
        "hidden": 2 * by_hand(ours[0][1:], theirs[0][1:], batch.piece_mask, pairs=False),
        "attention": 2 * by_hand(ours[1], theirs[1], batch.piece_mask, pairs=True),
    }
    assert found == {name: pytest.approx(value, rel=1e-4) for name, value in expected.items()}
    assert min(expected.values()) > 1e-3


@pytest.mark.parametrize("temperature", [1.0, 2.5])
def test_predictions_are_compared_by_soft_cross_entropy_and_squares(
    student: MultiTaskModel, teacher: MultiTaskModel, data: Prepared, temperature: float
) -> None:
    batch = collate(data.train, torch.arange(7), student.encoder.specials)
    with torch.no_grad():
        topics, sizes = (
            [model.tasks[task].module(model.states(batch, task), batch) for model in (student, teacher)]
            for task in (0, 1)
        )
        found = [loss_of(student, teacher, data, task, prediction=1.0, temperature=temperature) for task in (0, 1)]
    wanted = torch.exp(topics[1] / temperature)
    wanted = wanted / wanted.sum(1, keepdim=True)
    logs = topics[0] / temperature - torch.logsumexp(topics[0] / temperature, 1, keepdim=True)
    assert found[0].item() == pytest.approx(-(wanted * logs).sum().item() / 7 * temperature**2, rel=1e-5)
    assert found[1].item() == pytest.approx(((sizes[0] - sizes[1]) ** 2).mean().item(), rel=1e-5)


def test_losses_add_up_and_the_teacher_gets_no_gradient(
    student: MultiTaskModel, teacher: MultiTaskModel, data: Prepared
) -> None:
    weights: dict[str, float] = {"hidden": 0.5, "attention": 0.25, "prediction": 1.0, "labels": 2.0, "embeddings": 3.0}
    alone = [loss_of(student, teacher, data, **{name: weight}).item() for name, weight in weights.items()]
    whole = loss_of(student, teacher, data, **weights)
    assert whole.item() == pytest.approx(sum(alone), rel=1e-5)
    whole.backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is None for p in teacher.module.parameters())
    assert sum(p.grad is not None and bool(p.grad.any()) for p in student.encoder.parameters()) > 10
    student.module.zero_grad()


def test_a_perfect_copy_has_nothing_to_learn_inside(teacher: MultiTaskModel, data: Prepared) -> None:
    twin = copy.deepcopy(teacher)
    assert loss_of(twin, teacher, data, hidden=1.0, attention=1.0, embeddings=1.0).item() == 0.0


def test_a_student_of_some_layers_learns_from_the_same_ones(
    encoder: Path, teacher: MultiTaskModel, data: Prepared
) -> None:
    small = model_of(encoder, data, 3, kept=(2,))
    batch = collate(data.train, torch.arange(7), small.encoder.specials)
    with torch.no_grad():
        ours, theirs = layers_of(small, batch), layers_of(teacher, batch)
        found = [loss_of(small, teacher, data, layers=(2,), **{name: 1.0}).item() for name in ("hidden", "attention")]
    assert len(ours[0]) == 2
    expected = by_hand(ours[0][1:], theirs[0][2:], batch.piece_mask, pairs=False)
    assert found[0] == pytest.approx(expected, rel=1e-4)
    assert found[1] == pytest.approx(by_hand(ours[1], theirs[1][1:], batch.piece_mask, pairs=True), rel=1e-4)


def test_layers_that_are_kept_have_their_weights(encoder: Path) -> None:
    whole, small = Encoder.load(encoder), Encoder.load(encoder)
    small.keep_layers((2,))
    assert len(small.places.layers) == 1 and small.heads.shape == (1, 4)
    named = {
        name.replace("layer.1.", "layer.0."): value
        for name, value in whole.state_dict().items()
        if "layer.0." not in name
    }
    assert small.state_dict().keys() == named.keys()
    assert all(torch.equal(value, named[name]) for name, value in small.state_dict().items())
    with pytest.raises(EncoderError, match=r"E881.*there is no layer 3 to keep: the encoder has 2"):
        whole.keep_layers((1, 3))


def test_teachers_that_do_not_fit(
    encoder: Path, student: MultiTaskModel, teacher: MultiTaskModel, data: Prepared
) -> None:
    small = model_of(encoder, data, 3, kept=(2,))
    with pytest.raises(StageError, match=r"E885.*names layer 2, and the teacher has 1"):
        loss_of(student, small, data, hidden=1.0)
    with pytest.raises(StageError, match=r"E884.*names 1 layers of the teacher, and the student has 2"):
        loss_of(student, teacher, data, hidden=1.0, layers=(2,))
    other = copy.copy(teacher)
    other.tasks = teacher.tasks[:1]
    with pytest.raises(StageError, match=r"E883.*the teacher has not learnt the task 'size'"):
        loss_of(student, other, data, hidden=1.0)
    changed = copy.deepcopy(teacher)
    cast(Any, changed.tasks[0]).labels = ["a", "b"]
    with pytest.raises(StageError, match=r"E878.*other labels"):
        loss_of(student, changed, data, prediction=1.0)


class KilledError(Exception):
    """A stage is killed."""


def _run(root: Path, inputs: dict[str, Path], params: dict[str, Any], progress: Progress = silent) -> Path:
    for folder in ("out", "work"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    run(StageContext("train", params, inputs, root / "out", root / "work", "identity", root, progress))
    return root / "out"


def test_a_student_is_trained_saved_and_resumed_to_the_bit(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """With dropout: teachers draw nothing, so the student's generators are where they were."""
    inputs = {"encoder": toy_encoder, "prepare-toy": toy_prepared}
    params = {**toy.train_params(epochs=1, checkpoint_every=3), "tasks": OWN}
    big = _run(tmp_path / "big", inputs, params)
    distil = {"teacher": "big", "layers": [2], "hidden": 1.0, "attention": 1.0, "labels": 0.5}
    params = {**params, "train": {**params["train"], "distil": distil}}
    inputs |= {f"teacher-{task}": big for task in OWN}
    whole = _run(tmp_path / "whole", inputs, params)
    model = load_model(whole)
    assert len(model.encoder.places.layers) == 1
    assert json.loads((whole / "encoder/config.json").read_bytes())["num_hidden_layers"] == 1

    def stop(done: int, total: int, what: str) -> None:
        del total, what
        if done == 5:
            raise KilledError

    with pytest.raises(KilledError):
        _run(tmp_path / "cut", inputs, params, stop)
    resumed: list[int] = []
    again = _run(tmp_path / "cut", inputs, params, lambda done, total, what: resumed.append(done))
    assert resumed[0] == 3
    assert digest_tree(again) == digest_tree(whole)
