"""Analyses of dev scores on the way, on curves made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mtlspec.analyses import entropy_curves, sampling_curves
from mtlspec.contract.analyses import ToyRun, check_analysis
from mtlspec.errors import StageError
from mtlspec.io.write import write_json
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from tests.model_rows import model_row
from tests.unit.analyses.averaged import evaluation

UPDATES = (10, 20, 30, 35)
TASKS = ("pos", "ner")
CURVES: dict[str, list[list[tuple[float, float]]]] = {  # of every seed, the scores of both tasks
    "random": [[(20, 40), (40, 60), (50, 50), (60, 40)], [(20, 40), (30, 50), (50, 50), (60, 44)]],
    "unsure": [[(50, 50), (60, 60), (60, 60), (60, 64)], [(40, 56), (56, 60), (60, 60), (64, 64)]],
}


def _look(update: int, scores: Sequence[float]) -> dict[str, Any]:
    """A task of score x has an entropy of 1 - x."""
    told = {task: {"accuracy": float(score), "other": 0.0} for task, score in zip(TASKS, scores, strict=True)}
    entropy = {task: 1 - score / 100 for task, score in zip(TASKS, scores, strict=True)}
    return {"update": update, "scores": told, "mean": sum(scores) / 2, "entropy": entropy}


def make(root: Path, curves: Mapping[str, Any] = CURVES) -> ToyRun:
    rows, inputs = [], {}
    for group, seeds in curves.items():
        for seed, points in enumerate(seeds, 1):
            row = model_row(group, TASKS, seed)
            rows.append(row)
            inputs |= {row.train: root / row.train, row.evaluate: root / row.evaluate}
            (root / row.train).mkdir(parents=True)
            if points:
                looks = [_look(update, scores) for update, scores in zip(UPDATES, points, strict=False)]
                write_json(root / row.train / "curve.json", looks)
            evaluation(root / row.evaluate, dict.fromkeys(TASKS, 50.0))
    return ToyRun(tuple(rows), inputs)


def findings(options: Any, run: ToyRun, out: Path) -> Findings:
    out.mkdir()
    options.run(AnalysisJob(run.models, run.inputs, out))
    return Findings.read(out)


@pytest.mark.parametrize(
    "options",
    [sampling_curves.Options(type="sampling_curves"), entropy_curves.Options(type="entropy_curves")],
    ids=lambda options: options.type,
)
def test_findings_are_complete_and_the_same_every_time(options: Any, tmp_path: Path) -> None:
    check_analysis(options, make(tmp_path / "run"), tmp_path)


def test_the_first_update_above_a_line_and_the_mean_over_training(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    found = findings(sampling_curves.Options(type="sampling_curves", line=50), run, tmp_path / "out")
    random, unsure = found.numbers["models"]
    assert (random["reached"], unsure["reached"]) == ([20.0, 30.0], [10.0, 20.0])
    # 30 for ten updates, 50 for ten, 50 for ten, 50 for five; 30, 40, 50 and 52 of the second seed
    assert random["over_training"] == pytest.approx([(300 + 500 + 500 + 250) / 35, (300 + 400 + 500 + 260) / 35])
    assert found.summary[0] == ("An average dev score of 50 is first reached by unsure, after 15 updates; random 25.")
    assert found.summary[1].startswith("Over all of training the average of unsure differs by +")
    (table,) = found.tables
    assert [cell.text for cell in table.rows[0][1:3]] == ["25 ± 7", "2 of 2"]
    assert [cell.text for cell in table.rows[0][4:6]] == ["", ""]


def test_without_a_line_the_highest_that_all_mean_curves_reach(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    found = findings(sampling_curves.Options(type="sampling_curves"), run, tmp_path / "out")
    assert found.numbers["line"] == 51  # the mean of random ends at 51
    high = findings(sampling_curves.Options(type="sampling_curves", line=99), run, tmp_path / "high")
    assert high.summary[0] == "No model has an average of 99 with every seed."
    assert [row[1].text for row in high.tables[0].rows] == ["–", "–"]


def test_a_run_that_stopped_early_cuts_the_others(tmp_path: Path) -> None:
    short = {"random": [CURVES["random"][0], CURVES["random"][1][:2]]}
    found = findings(sampling_curves.Options(type="sampling_curves"), make(tmp_path / "run", short), tmp_path / "out")
    assert found.numbers["models"][0]["updates"] == [10.0, 20.0]


def test_what_a_task_loses_after_its_best_score_and_how_unsure_the_model_is(tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    found = findings(entropy_curves.Options(type="entropy_curves", tasks=["ner"]), run, tmp_path / "out")
    random = found.numbers["random-pos-ner"]["tasks"]
    assert random.keys() == {"ner"}
    assert random["ner"]["lost"] == [20.0, 6.0]
    assert random["ner"]["entropies"][0] == pytest.approx([60, 40, 50, 60])
    assert found.summary[0] == (
        "random: pos + ner: between its best score and the end ner loses 13.0 points; in the end the model is least "
        "sure of ner (58 % of the largest entropy)."
    )


def test_models_without_looks_are_told_what_to_write(tmp_path: Path) -> None:
    run = make(tmp_path / "run", {"random": [[], []]})
    for options in (
        sampling_curves.Options(type="sampling_curves"),
        entropy_curves.Options(type="entropy_curves"),
    ):
        with pytest.raises(StageError, match=r"E946: .*write `train.evaluate_every: "):
            findings(options, run, tmp_path / options.type)
    odd = entropy_curves.Options(type="entropy_curves", tasks=["dep"])
    with pytest.raises(StageError, match=r"E948: .*tasks with entropies: ner, pos"):
        findings(odd, make(tmp_path / "whole"), tmp_path / "odd")
