"""The sparsity curve: shares of heads and scores of a sweep over lambda."""

from __future__ import annotations

import json
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
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Table
from mtlspec.results.variants import Variant
from tests.model_rows import model_row
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
    assert [[cell.value for cell in line[1:]] for line in lines] == [[75, 90, 0], [50, 89, -1], [25, 70, -20]]
    assert Findings.read(tmp_path).summary == (
        "pos: 50 % of the heads (dp: pos [lambda 0.2]) are enough to stay within one point of stl (in the one seed "
        "there is).",
    )


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
    assert all(line[3].text == "–" for line in table.rows)
    assert f"Δ is empty: {why}." in table.caption and "difference" not in table.caption
    assert f"to the model of the same line that keeps most heads ({why})," in findings.figures[0].caption


def test_equal_shares_are_told_once(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    Options(type="sparsity_curve").run(AnalysisJob(tuple(rows[1:2]), inputs, tmp_path))
    assert Findings.read(tmp_path).summary[0] == "pos: dp: pos [lambda 0.1] keeps 75 % of the heads."


def _curve(*pairs: tuple[tuple[float, ...], tuple[float, ...]]) -> Curve:
    """A point for each pair of scores: those of a gated model and those of stl."""
    made = []
    for number, (scores, baseline) in enumerate(pairs):
        runs = tuple(model_row("dp", ("pos",), seed, name=str(number)) for seed in (1, 2))
        variant = Variant(f"dp{number}", ("pos",), (), runs)
        made.append(Point(variant, "pos", (10.0 * number, 10.0 * number), scores, baseline))
    return Curve(made, "stl", [point.variant for point in made])


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (
            [((20.7, 5.1), (17.2, 5.2))],
            "seeds scatter too much to tell whether fewer heads cost more than one point against stl (at best +1.70 "
            "with a standard error of 9.84, dp0: pos)",
        ),
        ([((0.0, 0.0), (0.0, 0.0))], "stl itself scores 0.0, so there is nothing that fewer heads could cost"),
        (
            [((60.0, 90.0), (80.0, 80.2)), ((79.9, 80.1), (80.0, 80.2))],
            "10 % of the heads (dp1: pos) are enough to stay within one point of stl",
        ),
        ([((60.0, 64.0), (80.0, 80.2))], "every gated model loses more than one point against stl"),
    ],
)
def test_nothing_is_claimed_that_seeds_do_not_show(pairs: Any, said: str) -> None:
    assert summary(_curve(*pairs)) == (f"pos: {said}.",)


def test_models_without_gates_are_refused(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    with pytest.raises(StageError, match="E454"):
        Options(type="sparsity_curve").run(AnalysisJob(tuple(rows[:1]), inputs, tmp_path))
