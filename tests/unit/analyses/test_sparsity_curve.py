"""The sparsity curve: shares of heads and scores of a sweep over lambda."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.analyses._findings import Findings
from mtlspec.analyses._tables import Table
from mtlspec.analyses.sparsity_curve import Options, run
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from tests.unit.analyses.gated_models import CLOSED, OPEN, row, write_model

Made = tuple[list[dict[str, Any]], dict[str, Path]]


def _silent(done: int, total: int, what: str) -> None:
    pass


def _evaluation(directory: Path, correct: int) -> Path:
    counts = np.array([[correct, 100]], np.int64)
    scores = {"accuracy": float(correct)}
    about = {"main": "accuracy", "columns": ["correct", "words"], "test": scores, "dev": scores}
    directory.mkdir(parents=True)
    (directory / "scores.json").write_text(json.dumps({"pos": about}))
    np.savez(directory / "counts.npz", pos=counts)
    return directory


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Made:
    """stl scores 90; with lambda 0.1, 0.2 and 0.4 gated models keep 6, 4 and 2 of 8 heads and score 90, 89 and 70."""
    root, data = tmp_path_factory.mktemp("models"), Prepared.load(toy_prepared)
    rows, inputs = [], {}
    for weight, kept, score in ((None, 8, 90), (0.1, 6, 90), (0.2, 4, 89), (0.4, 2, 70)):
        one = row("stl" if weight is None else "dp", ["pos"], 1, [["sharing.lambda", weight]] if weight else None)
        gates = None if weight is None else np.where(np.arange(8).reshape(2, 4) < kept, OPEN, CLOSED)
        inputs[one["train"]] = write_model(root / one["train"], toy_encoder, data, ["pos"], 1, gates)
        inputs[one["stage"]] = _evaluation(root / one["stage"], score)
        rows.append(one)
    return rows, inputs


def test_points_follow_from_gates_and_scores(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    assert run(Options(type="sparsity_curve"), rows, inputs, tmp_path, _silent) == {"points": 3}
    lines = Table.read(tmp_path / "tables/sparsity.json").rows
    assert [line[0].text for line in lines] == [f"dp: pos [lambda {weight}]" for weight in (0.1, 0.2, 0.4)]
    assert [[cell.value for cell in line[1:]] for line in lines] == [[75, 90, 0], [50, 89, -1], [25, 70, -20]]
    assert Findings.read(tmp_path).summary == (
        "pos: 50 % of the heads (dp: pos [lambda 0.2]) are enough to stay within one point of stl.",
    )


def test_without_a_baseline_it_still_tells_what_is_kept(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    run(Options(type="sparsity_curve"), rows[1:], inputs, tmp_path, _silent)
    assert Findings.read(tmp_path).summary == ("pos: models keep from 25 % to 75 % of the heads.",)
    assert all(line[3].text == "–" for line in Table.read(tmp_path / "tables/sparsity.json").rows)


def test_models_without_gates_are_refused(swept: Made, tmp_path: Path) -> None:
    rows, inputs = swept
    with pytest.raises(StageError, match="E454"):
        run(Options(type="sparsity_curve"), rows[:1], inputs, tmp_path, _silent)
