"""Sets of heads of trained models: counts by layer, overlaps, and weights from before the switch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec import kinds
from mtlspec.analyses import _task_heads as made
from mtlspec.contract.analyses import check_findings
from mtlspec.model.multitask import load_model
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.variants import Variant
from mtlspec.spec.families import ANALYSES, AnalysisOptions
from tests import toy


def test_findings_of_trained_models_are_complete(toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    inputs, rows = {}, []
    for group, sharing in (("iat", {"type": "iat", "alpha": 0.4, "sentences": 9}), ("mtl", {"type": "hard"})):
        for seed in (1, 2):
            name = f"{group}-pos-names-s{seed}"
            params = toy.train_params(("pos", "names"), seed, epochs=1, keep="last")
            toy.run_train(tmp_path / name, toy_encoder, toy_prepared, {**params, "sharing": sharing})
            inputs[f"train-{name}"] = tmp_path / name / "out"
            rows.append(ModelRow(group, ("pos", "names"), seed, (), f"train-{name}", f"evaluate-{name}"))
    analysis = kinds.parse(ANALYSES, AnalysisOptions, {"type": "task_heads"})
    job = AnalysisJob(tuple(rows), inputs, tmp_path)
    check_findings("task_heads", lambda out: analysis.run(replace(job, out=out)), tmp_path / "found")
    findings = Findings.read(tmp_path / "found/a")
    assert list(findings.numbers) == ["iat-pos-names"], "models without sets are passed over"
    for seed, sets in findings.numbers["iat-pos-names"].items():
        assert {task: len(heads) for task, heads in sets.items()} == {"pos": 3, "names": 3}
        model = load_model(inputs[f"train-iat-pos-names-s{seed}"])
        told = model.sharing.task_heads()
        assert told is not None
        for task, own in zip(model.tasks, told, strict=True):
            assert sets[task.name] == (own.nonzero() + 1).tolist()
    assert [row[0].text for row in findings.tables[0].rows] == ["pos", "names"], "as the model's label has them"
    assert [figure.name for figure in findings.figures] == ["task_heads"]


def _chosen(sets: Any, before: tuple[int, ...] = ()) -> made.Chosen:
    own = np.array(sets, np.bool_)
    seeds = tuple(range(1, len(own) + 1))
    rows = tuple(ModelRow("iat", ("a", "b"), seed, (), f"train-iat-s{seed}", "") for seed in (*seeds, *before))
    return made.Chosen(Variant("iat", ("a", "b"), (), rows), ("a", "b"), seeds, before, own, np.array([3, 2]))


A, B, C = [[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [1, 0, 0]], [[0, 1, 1], [0, 0, 0]]


def test_layers_overlaps_and_seeds_by_hand() -> None:
    one = _chosen([[A, B], [C, B]])
    (_, (a, b)), *_ = made.layer_table([one]).sections
    assert [cell.value for cell in a] == ["a", 2, 2, 0, 50, pytest.approx(200 / 3)]
    assert [cell.value for cell in b] == ["b", 2, 1, 1, 100, pytest.approx(100 * (1 / 3 + 1 / 2) / 2)]
    (_, (a, b)), *_ = made.overlap_table([one]).sections
    assert (a[2].value, a[2].text, a[1].text) == (25, "25 (33)", "–")  # one head of two in one seed, none in the other
    assert b[1].data["chance"] == pytest.approx(100 / 3)
    assert made.summary([one]) == ("iat: a + b: two tasks have 25 % of their heads in common, 33 % by chance.",)
    assert made.numbers([one])["iat"]["1"] == {"a": [[1, 1], [1, 2]], "b": [[1, 1], [2, 1]]}


def test_weights_from_before_the_switch_are_told(tmp_path: Path) -> None:
    some, none = _chosen([[A, B]], before=(2,)), _chosen(np.zeros((0, 2, 2, 3)), before=(1, 2))
    assert made.summary([some])[1].startswith("1 of 2 models (iat: a + b) kept weights from before the switch")
    assert made.summary([none])[0].startswith("2 of 2 models")
    assert [cell.text for cell in made.layer_table([none]).rows[0]] == ["a", "all", "–", "–", "–", "–"]
    assert made.draw([none], tmp_path) == ()
    assert len(made.overlap_table([some, none]).rows) == 4


def test_empty_sets_have_no_overlap() -> None:
    nothing = np.zeros((2, 2, 2, 3))
    assert made.summary([_chosen(nothing)]) == ("There are no two sets of heads to compare.",)
    assert made.overlap_table([_chosen(nothing)]).rows[0][2].text == "–"
