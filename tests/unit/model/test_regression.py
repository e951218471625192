"""Regression: the scale of training, the loss by hand, clipping, files of predictions, and it learns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.kinds import options_class
from mtlspec.model.task import rebuild_task
from mtlspec.model.tasks.regression import Regression
from mtlspec.spec.families import TASKS, TaskOptions
from tests import toy
from tests.unit.model.test_classification import states_of

NUMBERS = {"1.0": 2, "4.0": 1, "2.0": 1}


def regression(labels: dict[str, int] | None = None, width: int = 8, **values: Any) -> Regression:
    about = {"type": "regression", "layer": "size", **values}
    options = cast(TaskOptions, options_class(TASKS, "regression").model_validate(about))
    task = options.build("size", NUMBERS if labels is None else labels, width)
    assert isinstance(task, Regression)
    task.module.eval()
    return task


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def test_numbers_are_learnt_on_the_scale_of_training(data: Prepared) -> None:
    task = regression()
    assert (task.mean, task.range) == (2.0, (1.0, 4.0))
    assert task.scale == pytest.approx(1.5**0.5)
    batch, states = states_of(data, [0, 1, 2])
    gold = task.encode(data.train)
    assert gold.dtype == torch.float32
    right = torch.tensor([cast(float, value) for value in data.train.values("size")[:3]])
    found = task.module(states, batch).squeeze(1)
    torch.testing.assert_close(task.loss(states, batch, gold), ((found - (right - 2.0) / task.scale) ** 2).mean())
    torch.testing.assert_close(torch.tensor(task.decode(states, batch)), found * task.scale + 2.0)


def test_predictions_may_be_kept_within_the_range_of_training(data: Prepared) -> None:
    batch, states = states_of(data, [0, 1, 2])
    for clip in (False, True):
        task = regression(clip=clip)
        with torch.no_grad():
            cast(Any, task.module).scores.bias.fill_(100.0)
        found = task.decode(states, batch)
        assert found == [4.0] * 3 if clip else min(found) > 4.0


def test_one_number_in_training_is_no_division_by_zero() -> None:
    assert regression({"2.5": 7}).scale == 1.0


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-5, 1.0, 1e5, 1e200, 1e289])
def test_numbers_of_any_size_have_the_scale_of_their_scatter(size: float) -> None:
    task = regression({repr(-size): 3, repr(size): 1})
    assert task.mean == pytest.approx(-size / 2, rel=1e-12)
    assert task.scale == pytest.approx(size * 0.75**0.5, rel=1e-12)


def test_what_cannot_be_learnt_is_refused(data: Prepared) -> None:
    with pytest.raises(StageError, match="have no numbers") as caught:
        regression({})
    assert caught.value.code == "E474"
    batch, states = states_of(data, [0])
    with pytest.raises(StageError, match="'regression' does not say how unsure") as caught:
        regression().uncertainty(states, batch)
    assert caught.value.code == "E470"


def test_a_described_task_is_rebuilt_the_same() -> None:
    task = regression(metric="pearson_spearman", clip=True, hidden=3)
    again = rebuild_task("size", json.loads(json.dumps(task.describe())), 8)
    assert isinstance(again, Regression)
    assert again.describe() == task.describe()
    assert (again.mean, again.scale, again.metric.main) == (task.mean, task.scale, "pearson_spearman")


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_it_learns_fifty_sentences_by_heart(pooling: str, tmp_path: Path) -> None:
    encoder = toy.write_encoder(tmp_path / "encoder", dropout=0.0)
    fifty = toy.corpus(11, 50)
    prepared = toy.write_prepared(tmp_path / "data", encoder, {"train": fifty, "dev": fifty, "test": fifty})
    params = toy.train_params([], dropout=0.0, epochs=40, patience=1.0, batch={"sentences": 10, "tokens": 400})
    params["tasks"] = {"size": {"type": "regression", "layer": "size", "pooling": pooling, "metric": "pearson"}}
    assert toy.run_train(tmp_path, encoder, prepared, params).scores["dev/size/pearson"] >= 98
    toy.run_evaluate(tmp_path / "evaluated", tmp_path / "out", prepared)
    lines = (tmp_path / "evaluated" / "out" / "predictions" / "size.tsv").read_text().splitlines()
    assert lines[0] == "index\tid\ttext\tgold\tprediction"
    gold, predicted = map(float, lines[1].split("\t")[-2:])
    assert abs(predicted - gold) < 2


def test_even_draws_go_by_quarters_of_the_numbers(data: Prepared) -> None:
    numbers = data.train.numbers("size")
    quarters = regression().classes(data.train)
    known = ~numbers.isnan()
    borders = [numbers[known].quantile(share).item() for share in (0.25, 0.5, 0.75)]
    expected = [sum(number > border for border in borders) for number in numbers[known].tolist()]
    assert quarters[known].tolist() == expected
    assert len(set(expected)) > 1
