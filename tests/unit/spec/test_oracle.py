"""Which tasks help another one, from the scores of single-task models and pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.errors import StageError
from mtlspec.spec.selected import Evaluated, Selection, select
from mtlspec.spec.task_sets.oracle import Options


def _evaluated(group: str, tasks: tuple[str, ...], scores: list[float]) -> list[Evaluated]:
    about = [{"t": {"main": "f1", "dev": {"f1": score}, "test": {"f1": 0.0}}} for score in scores]
    return [Evaluated(group, tasks, seed, Path(), found) for seed, found in enumerate(about)]


def _select(options: Options, single: list[float], **pairs: list[float]) -> Selection:
    models = _evaluated("stl", ("t",), single)
    for partner, scores in pairs.items():
        models += _evaluated("pair", ("t", partner), scores)
    return options.select(["t"], models)


def test_a_partner_must_be_better_than_the_noise_of_both_sides() -> None:
    single = [50.0, 52.0]  # mean 51, std 1.414
    found = _select(Options(type="oracle"), single, far=[60.0, 60.0], near=[53.0, 53.0], below=[40.0, 41.0])
    assert found.tasks == ("t", "far")
    assert [candidate.chosen for candidate in found.candidates] == [True, False, False]
    assert found.candidates[0].numbers["alone"] == 51.0
    assert found.candidates[0].numbers["alone_std"] == pytest.approx(2**0.5)
    population = _select(Options(type="oracle", ddof=0), single, near=[53.0, 53.0])
    assert population.tasks == ("t", "near")  # 53 > 51 + 1.5 x 1
    assert population.facts()["candidates"]["near"]["paired"] == 53.0


def test_dev_decides_unless_test_is_asked_for() -> None:
    about = {"main": "f1", "dev": {"f1": 1.0}, "test": {"f1": 9.0}}
    alone = [Evaluated("stl", ("t",), seed, Path(), {"t": {**about, "test": {"f1": 2.0}}}) for seed in (1, 2)]
    pair = [Evaluated("pair", ("t", "u"), seed, Path(), {"t": about}) for seed in (1, 2)]
    assert Options(type="oracle").select(["t"], [*alone, *pair]).tasks == ("t",)
    assert Options(type="oracle", on="test").select(["t"], [*alone, *pair]).tasks == ("t", "u")


def test_the_released_rule_takes_a_gap_of_nothing_and_passes_over_runs_of_score_zero() -> None:
    released = Options(type="oracle", rule="released")
    assert _select(released, [50.0, 50.0], same=[50.0, 50.0]).tasks == ("t", "same")
    failed = {"one": [60.0, 60.0, 0.0], "both": [60.0, 0.0, 0.0]}
    assert _select(Options(type="oracle"), [50.0, 50.0], **failed).tasks == ("t",)
    found = _select(released, [50.0, 50.0], **failed)
    assert found.tasks == ("t", "one")  # one run is left of `both`, which has no standard deviation
    assert found.facts()["candidates"]["both"]["paired"] == 0.0


def test_a_task_called_each_cannot_be_told_from_every_task() -> None:
    assert "one is called 'each'" in str(Options(type="oracle").problem(["pos", "each"]))
    assert Options(type="oracle", target="pos").problem(["pos", "each"]) is None


def test_a_task_that_none_helps_is_learnt_alone() -> None:
    assert _select(Options(type="oracle", k=0), [50.0, 50.0], same=[50.0, 50.0]).tasks == ("t",)


SCORES = st.lists(st.floats(0, 100), min_size=2, max_size=5)


@given(SCORES, SCORES, st.floats(0, 5), st.floats(0, 5))
def test_a_stricter_rule_never_chooses_more(single: list[float], paired: list[float], k: float, more: float) -> None:
    loose = _select(Options(type="oracle", k=k), single, u=paired)
    strict = _select(Options(type="oracle", k=k + more), single, u=paired)
    assert set(strict.tasks) <= set(loose.tasks)


def test_an_evaluation_without_the_score_is_named(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(json.dumps({"t": {"main": "f1", "test": {"f1": 1.0}}}))
    rows = [{"group": "stl", "tasks": ["t"], "seed": 1, "evaluate": "evaluate-stl-t-s1"}]
    params: dict[str, Any] = {"options": {"type": "oracle"}, "known": ["t"], "models": rows}
    with pytest.raises(StageError, match="no score of 't' on dev") as caught:
        select(params, {"evaluate-stl-t-s1": tmp_path})
    assert caught.value.code == "E462"
