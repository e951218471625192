"""Affinities of tasks: what one look measures, and how estimates are judged by pairs that were trained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from mtlspec.analyses._affinity.findings import judge
from mtlspec.analyses._affinity.measure import FILE, Looks, fresh_model, losses
from mtlspec.analyses.task_affinity import Options
from mtlspec.data.corpora import Corpora
from mtlspec.errors import StageError
from mtlspec.model.mixed import Reading
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob, Measurement
from mtlspec.results.transfer import Score, Transfer
from tests import toy
from tests.model_rows import model_row

TASKS = ("a", "b", "c", "d", "e")


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Measurement:
    """A joint model of two tasks of the toy language: parts of speech, and the names among them."""
    root = tmp_path_factory.mktemp("joint")
    toy.run_train(root, toy_encoder, toy_prepared, toy.train_params(("pos", "names"), 1, epochs=1))
    inputs = {"train": root / "out", "encoder": toy_encoder, "prepare-toy": toy_prepared}
    return Measurement(model_row("all", ["pos", "names"]), inputs, root)


def measured(joint: Measurement, out: Path) -> dict[str, list[list[float]]]:
    out.mkdir(parents=True)
    options = Options(type="task_affinity", transfer=("t",), updates=4, every=2, examples=4)
    facts = options.measure(Measurement(joint.model, joint.inputs, out)).facts
    assert facts == {"looks": 2, "tasks": 2}
    found: dict[str, list[list[float]]] = json.loads((out / FILE).read_bytes())
    return found


def test_a_task_is_its_own_best_friend_and_numbers_come_again(joint: Measurement, tmp_path: Path) -> None:
    found = measured(joint, tmp_path / "a")
    cosine, ahead = np.array(found["cosine"]), np.array(found["look_ahead"])
    assert np.allclose(np.diag(cosine), 1, atol=1e-5) and np.allclose(cosine, cosine.T, atol=1e-6)
    assert (np.diag(ahead) > 0).all()  # along its own gradient a loss falls
    assert found == measured(joint, tmp_path / "b")


def test_a_look_leaves_the_model_as_it_was_and_reads_losses_after_a_step(joint: Measurement) -> None:
    corpora = Corpora.load(joint.inputs)
    model = fresh_model(joint, corpora, 1)
    model.module.eval()
    train = corpora.of(model.tasks[0]).train
    readings = [Reading(task, train, torch.arange(6)) for task in (0, 1)]
    gold = [task.encode(train) for task in model.tasks]
    before = {name: value.clone() for name, value in model.weights().items()}
    looks = Looks(2)
    looks.add(model, readings, gold, 0.1)
    assert all(torch.equal(value, before[name]) for name, value in model.weights().items())
    shared = list(model.encoder.parameters())
    first, second = losses(model, readings, gold)
    gradient = torch.autograd.grad(first, shared, allow_unused=True)
    with torch.no_grad():
        for parameter, own in zip(shared, gradient, strict=True):
            if own is not None:
                parameter.sub_(own, alpha=0.1)
        after = losses(model, readings, gold)[1]
    assert looks.means()["look_ahead"][0][1] == pytest.approx(float(1 - after / second.detach()), rel=1e-3)


def transfer(gains: np.ndarray) -> Transfer:
    """Every task has 50 alone; `gains` [T, T] are points."""
    pairs = {a: {b: Score(50 + gains[i, j]) for j, b in enumerate(TASKS) if b != a} for i, a in enumerate(TASKS)}
    return Transfer("pair", TASKS, alone={task: Score(50.0) for task in TASKS}, pairs=pairs)


def test_an_estimate_is_judged_by_the_order_of_the_gains() -> None:
    gains = np.random.default_rng(1).normal(size=(5, 5))
    good = judge("cosine", np.exp(gains), TASKS, "t", transfer(gains), 500)
    assert good.rho == pytest.approx(1.0) and good.within == pytest.approx(1.0) and (good.best, good.tasks) == (5, 5)
    assert good.p is not None and good.p < 0.05
    bad = judge("cosine", np.random.default_rng(2).normal(size=(5, 5)), TASKS, "t", transfer(gains), 500)
    assert bad.p is not None and bad.p > 0.05
    flat = judge("cosine", np.ones((5, 5)), TASKS, "t", transfer(gains), 100)
    assert flat.rho is None and flat.p is None


def test_findings_are_written_and_models_of_one_task_are_refused(joint: Measurement, tmp_path: Path) -> None:
    measured(joint, tmp_path / "measured")
    table = tmp_path / "table"
    numbers = {"transfer": Transfer("pair", ("pos", "names"), {}, {}).stored()}
    Findings("transfer_table", "t", ("s",), (), (), numbers).write(table)
    row = joint.model
    assert isinstance(row, ModelRow) and row.measure is not None
    options = Options(type="task_affinity", transfer=("t",))
    out = tmp_path / "out"
    out.mkdir()
    facts = options.run(AnalysisJob((row,), {row.measure: tmp_path / "measured", "analyse-t": table}, out))
    assert facts["correlations"] == {"t/cosine": None, "t/look_ahead": None}
    assert len(Findings.read(out).figures) == 2
    alone = tmp_path / "alone"
    alone.mkdir()
    options.measure(Measurement(model_row("stl", ["pos"]), {}, alone))
    with pytest.raises(StageError, match="E777"):
        options.run(AnalysisJob((row,), {row.measure: alone, "analyse-t": table}, out))
