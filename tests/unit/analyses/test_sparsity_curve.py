"""The sparsity curve: shares of heads and scores of a sweep over lambda."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.analyses._sparsity import Curve, Point, summary
from mtlspec.analyses.sparsity_curve import Options
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.inference import compare_scores
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Table
from mtlspec.results.variants import Variant
from tests.model_rows import model_row
from tests.trainings import write_training
from tests.unit.analyses.gated_models import CLOSED, OPEN, write_model

Made = tuple[list[ModelRow], dict[str, Path]]


def _evaluation(directory: Path, correct: int) -> Path:
    counts = np.array([[correct, 100]], np.int64)
    scores = {"accuracy": float(correct)}
    about = {"main": "accuracy", "columns": ["correct", "words"], "test": scores, "dev": scores}
    directory.mkdir(parents=True)
    (directory / "scores.json").write_text(json.dumps({"pos": about}))
    (directory / "metrics.json").write_text(json.dumps({"pos": {"type": "tag_accuracy"}}))
    np.savez(directory / "counts.npz", pos=counts)
    return directory


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Made:
    """stl scores 90; with lambda 0.1, 0.2 and 0.4 gated models keep 6, 4 and 2 of 8 heads and score 90, 89 and 70."""
    root, data = tmp_path_factory.mktemp("models"), Prepared.load(toy_prepared)
    rows, inputs = [], {}
    for weight, kept, score in ((None, 8, 90), (0.1, 6, 90), (0.2, 4, 89), (0.4, 2, 70)):
        one = model_row("stl" if weight is None else "dp", ["pos"], 1, [["sharing.lambda", weight]] if weight else [])
        gates = None if weight is None else np.where(np.arange(8).reshape(2, 4) < kept, OPEN, CLOSED)
        inputs[one.train] = write_model(root / one.train, toy_encoder, data, ["pos"], 1, gates)
        inputs[one.evaluate] = _evaluation(root / one.evaluate, score)
        rows.append(one)
    return rows, inputs


def test_points_follow_from_gates_and_scores(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    assert Options(type="sparsity_curve").run(AnalysisJob(tuple(rows), inputs, tmp_path)) == {"points": 3}
    lines = Table.read(tmp_path / "tables/sparsity.json").rows
    assert [line[0].text for line in lines] == [f"dp: pos [lambda {weight}]" for weight in (0.1, 0.2, 0.4)]
    assert [[cell.value for cell in line[1:]] for line in lines] == [
        [75, 90, 0, 0, None, "undecided"],
        [50, 89, -1, -1, None, "undecided"],
        [25, 70, -20, -20, None, "undecided"],
    ]
    assert Findings.read(tmp_path).summary == (
        "pos: the sparsest model that loses at most one point on dev, dp: pos [lambda 0.2] with 50 % of the heads, "
        "has −1.00 points against stl on test; that is not tested: one seed does not show how seeds scatter.",
    )


def test_a_longer_training_is_told_beside_what_fewer_heads_cost(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    longer = {row.train: write_training(tmp_path / row.train, ["pos"], 300) for row in rows[1:]}
    Options(type="sparsity_curve").run(AnalysisJob(tuple(rows), {**inputs, **_same(inputs, longer)}, tmp_path / "out"))
    (told,) = Findings.read(tmp_path / "out").summary
    assert told.endswith("one seed does not show how seeds scatter, but dp had 3.0 times the updates of stl.")


def _same(inputs: dict[str, Path], lengths: dict[str, Path]) -> dict[str, Path]:
    """The same models with other lengths of training."""
    for name, folder in lengths.items():
        shutil.copytree(inputs[name], folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("training.json"))
    return lengths


def test_without_a_baseline_it_still_tells_what_is_kept(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    Options(type="sparsity_curve").run(AnalysisJob(tuple(rows[1:]), inputs, tmp_path))
    why = "the group stl is not part of this analysis; name it under `models`"
    findings = Findings.read(tmp_path)
    assert findings.summary == (
        "pos: models keep from 25 % to 75 % of the heads.",
        f"What fewer heads cost is not told: {why}.",
    )
    table = Table.read(tmp_path / "tables/sparsity.json")
    assert all(cell.text == "–" for line in table.rows for cell in line[3:])
    assert f"Δ is empty: {why}." in table.caption and "difference" not in table.caption
    assert f"to the model of the same line that keeps most heads ({why})," in findings.figures[0].caption


def test_equal_shares_are_told_once(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    Options(type="sparsity_curve").run(AnalysisJob(tuple(rows[1:2]), inputs, tmp_path))
    assert Findings.read(tmp_path).summary[0] == "pos: dp: pos [lambda 0.1] keeps 75 % of the heads."


def _curve(*points: tuple[float, tuple[float, ...], tuple[float, ...]]) -> Curve:
    """A point for each triple: the change on dev, scores of a gated model and those of stl on test."""
    made = []
    for number, (dev, scores, baseline) in enumerate(points):
        runs = tuple(model_row("dp", ("pos",), seed, name=str(number)) for seed in (1, 2))
        variant = Variant(f"dp{number}", ("pos",), (), runs)
        share = (10.0 * (number + 1),) * 2
        made.append(Point(variant, "pos", share, scores, baseline, compare_scores(scores, baseline), dev))
    return Curve(made, "stl", [point.variant for point in made])


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (
            [(0.5, (20.7, 5.1), (17.2, 5.2))],
            "the sparsest model that loses at most one point on dev, dp0: pos with 10 % of the heads, may or may not "
            "lose more than one point: +1.70 points against stl on test (95 % interval −43.43 to +46.83)",
        ),
        ([(0.0, (0.0, 0.0), (0.0, 0.0))], "stl itself scores 0.0, so there is nothing that fewer heads could cost"),
        (
            [(-3.0, (79.9, 80.0), (80.0, 80.1)), (-0.4, (79.9, 80.0), (80.0, 80.1)), (0.3, (80.0, 80.1), (80.0, 80.1))],
            "the sparsest model that loses at most one point on dev, dp1: pos with 20 % of the heads, loses at most "
            "one point: −0.10 points against stl on test (95 % interval −0.40 to +0.20)",
        ),
        (
            [(-20.0, (60.0, 60.1), (80.0, 80.1)), (-18.0, (63.0, 63.1), (80.0, 80.1))],
            "the model that loses least on dev, dp1: pos with 20 % of the heads, loses more than one point: −17.00 "
            "points against stl on test (95 % interval −17.30 to −16.70)",
        ),
    ],
)
def test_dev_chooses_and_test_judges_by_its_interval(points: Any, said: str) -> None:
    assert summary(_curve(*points)) == (f"pos: {said}.",)


def test_a_loss_of_nearly_a_point_is_not_within_one_because_its_mean_is() -> None:
    point = _curve((0.0, (78.8, 79.0, 79.6), (79.6, 80.0, 80.4))).points[0]
    assert point.change == pytest.approx(-0.866667)
    assert point.found is not None
    assert point.found.not_worse(1.0) == "undecided"


def test_models_without_gates_are_refused(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    with pytest.raises(StageError, match="E454"):
        Options(type="sparsity_curve").run(AnalysisJob(tuple(rows[:1]), inputs, tmp_path))
