"""Settings of single models of a group."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.spec.expand import expand
from mtlspec.spec.load import LoadedSpec
from tests.unit.spec.small_project import SPEC

Complaints = Callable[..., list[str]]
Load = Callable[..., LoadedSpec]

GATED = "  dp: {tasks: each, sharing: {type: l0, lambda: 0.01}, by_tasks: {%s}}\n  mtl: {"


def _with(said: str) -> str:
    return SPEC.replace("  mtl: {", GATED % said)


def test_each_model_is_trained_as_its_own_settings_say(load: Load) -> None:
    said = "lem: {train: {epochs: 9, batch: {sentences: 4}}, sharing: {lambda: 0.2}}"
    spec = load(_with(said), "models.dp.by_tasks.pos.train.lr.encoder=1e-5", "seeds=[1]").spec
    found = {
        one.name: (one.train.epochs, one.train.batch.sentences, one.train.lr.encoder, getattr(one.sharing, "lambda"))
        for one in expand(spec)
        if one.group == "dp"
    }
    assert found == {"dp-pos-s1": (5, 32, 1e-5, 0.01), "dp-lem-s1": (9, 4, 5e-5, 0.2)}


def test_tasks_may_stand_in_any_order_and_sweeps_go_on(load: Load) -> None:
    text = SPEC.replace("train: {epochs: 8}}", "by_tasks: {lem-pos: {train: {epochs: 9}}}}")
    spec = load(text, "models.mtl.sweep={train.accumulate: [1, 2]}", "seeds=[1]").spec
    assert [(one.train.epochs, one.train.accumulate) for one in expand(spec) if one.group == "mtl"] == [(9, 1), (9, 2)]


def test_a_spec_without_them_is_recorded_as_before(load: Load) -> None:
    assert "by_tasks" not in load(SPEC).spec.model_dump(mode="json")["models"]["stl"]


BROKEN = {
    "tasks that no model has": (
        "pos-lem: {train: {epochs: 9}}",
        "E865: no model of group 'dp' has the tasks 'pos-lem'",
    ),
    "what all models of a group share": (
        "pos: {train: {sampler: {alpha: 0.5}}}",
        "E867: 'train.sampler.alpha' is the same for all models of a group; make a group of its own for these models",
    ),
    "another kind of sharing": ("pos: {sharing: {type: hard}}", "E867: 'sharing.type' is the same"),
    "a key that does not exist": ("pos: {train: {epoch: 9}}", "E869: 'train.epoch' does not fit model 'dp': unknown"),
    "a value that does not fit": ("pos: {sharing: {lambda: -1}}", "E869: 'sharing.lambda' does not fit model 'dp': "),
    "a key below a number": ("pos: {train: {epochs: {x: 1}}}", "E869: 'train.epochs.x' does not fit model 'dp': "),
    "another key": ("pos: {tasks: all}", "E130: unknown key 'tasks'"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_wrong_one_is_one_line_with_its_place(case: str, complaints: Complaints) -> None:
    said, answer = BROKEN[case]
    lines = complaints(_with(said))
    assert len(lines) == 1, lines
    assert lines[0].startswith("15:") or ":15:" in lines[0], lines
    assert answer in lines[0]


def test_the_same_tasks_twice(complaints: Complaints) -> None:
    text = SPEC.replace("train: {epochs: 8}}", "by_tasks: {lem-pos: {}, pos-lem: {}}}")
    assert ["E866: 'lem-pos' and 'pos-lem' are the same tasks" in line for line in complaints(text)] == [True]


@pytest.mark.parametrize("swept", ["models.dp.sweep={train.epochs: [1, 2]}", "sweep={train.epochs: [1, 2]}"])
def test_a_key_that_is_swept_over(swept: str, complaints: Complaints) -> None:
    lines = complaints(_with("pos: {train: {epochs: 9}}"), swept)
    assert ["E868: 'train.epochs' is set by tasks and swept over as well in model 'dp'" in line for line in lines] == [
        True
    ]
