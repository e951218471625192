"""The report counts labelled examples, says what was cut, and shows scores of further splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mtlspec.io.write import write_json
from mtlspec.plan.rows import restored_rows
from mtlspec.report.corpora import Corpus
from mtlspec.report.further import further_section
from mtlspec.report.labelled import labelled_table
from mtlspec.report.runs import overview_table, training_table
from mtlspec.results.evaluations import read_evaluations
from mtlspec.results.variants import variants
from mtlspec.stages.report import run as run_report
from tests.finished_run import FinishedRun

TASKS = {
    "tags": {"layer": "tag", "data": "half"},
    "likeness": {"layer": "score", "data": "pairs"},
    "same": {"layer": "same", "data": "pairs"},
}


def _corpus(name: str, sizes: dict[str, int], labelled: dict[str, dict[str, int]], **more: Any) -> Corpus:
    return Corpus(name, {}, (), {"sentences": sizes, "labelled examples": labelled, **more})


def test_every_task_has_its_labelled_examples_counted_split_by_split() -> None:
    half = _corpus("half", {"train": 6000, "dev": 20, "test": 20}, {"tag": {"train": 3000, "dev": 20, "test": 10}})
    sizes = {"dev": 20, "far": 12, "test": 20, "train": 60}
    labelled = {"score": {**sizes, "test": 0}, "same": {**sizes, "far": 0}}
    cut = {"examples cut": {"train": 3, "far": 1, "dev": 0}, "sub-tokens cut": {"train": 40, "far": 2, "dev": 0}}
    table = labelled_table(TASKS, TASKS, [half, _corpus("pairs", sizes, labelled, **cut)])
    assert table.columns == ("task", "corpus", "layer", "train", "dev", "test", "far")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["tags", "half", "tag", "3,000 of 6,000", "20", "10 of 20", "–"],
        ["likeness", "pairs", "score", "60", "20", "none of 20", "12"],
        ["same", "pairs", "same", "60", "20", "20", "none of 12"],
    ]
    assert "Test has no labels of likeness: predictions are written, nothing is scored." in table.caption
    assert "The split far has no labels of same: predictions are written, nothing is scored." in table.caption
    assert table.caption.endswith("pairs: 4 examples cut (train 3, far 1), 42 sub-tokens lost.")


def test_nothing_is_said_of_what_is_not_so() -> None:
    whole = _corpus("toy", {"train": 6}, {"tag": {"train": 6}})
    caption = labelled_table({"tags": {"layer": "tag"}}, ["tags"], [whole]).caption
    assert "no labels" not in caption
    assert "cut" not in caption


def test_scores_of_further_splits_have_a_chapter(finished: FinishedRun, tmp_path: Path) -> None:
    run = finished.copy_to(tmp_path / "copy")
    stage = run.plan.stage("report")
    assert not (run.places.artifact("report") / "tables/further-splits").exists()
    for number, name in enumerate(sorted(name for name in stage.inputs if name.startswith("evaluate-"))):
        path = run.places.artifact(name) / "scores.json"
        scores = json.loads(path.read_bytes())
        if "pos" in scores:
            scores["pos"]["far"] = {"accuracy": 50.0 + number}
            write_json(path, scores)
    run_report(run.context(stage, tmp_path / "out"))
    table = json.loads((tmp_path / "out/tables/further-splits/further_splits.json").read_bytes())
    assert table["columns"] == ["model", "pos on far (accuracy)"]
    ((_, rows),) = table["sections"]
    assert [row[0]["text"] for row in rows] == ["stl: pos", "pair: pos + ner", "mtl: pos + ner"]
    assert rows[0][1]["data"]["seeds"].keys() == {"1", "2"}
    for page in ("report.html", "report.md"):
        text = (tmp_path / "out" / page).read_text()
        assert "Further evaluation splits" in text
        assert "Labelled examples" in text


def test_a_further_split_with_constant_gold_is_explained(finished: FinishedRun) -> None:
    models = variants(restored_rows(finished.plan.stage("report").params["models"]))
    found = read_evaluations(
        models, {stage.name: finished.places.artifact(stage.name) for stage in finished.plan.stages}
    )
    assert further_section(models, found) is None
    for evaluation in found.values():
        if "ner" in evaluation.scores:
            evaluation.scores["ner"]["undefined"] = {"test": "constant gold", "far": "constant gold"}
    section = further_section(models, found)
    assert section is not None
    (table,) = section.tables
    assert table.columns == ("model", "ner on far (f1)") and {row[1].text for row in table.rows} == {"–"}
    assert table.caption.endswith("–: ner is not defined on far (constant gold).")


def test_a_mean_that_is_not_there_is_explained(finished: FinishedRun) -> None:
    params = finished.plan.stage("report").params
    models = variants(restored_rows(params["models"]))
    inputs = {stage.name: finished.places.artifact(stage.name) for stage in finished.plan.stages}
    found = read_evaluations(models, inputs)
    assert "–" not in overview_table(models, found, inputs).caption
    for evaluation in found.values():
        for task, about in evaluation.scores.items():
            if task == "ner":
                del about["test"]
    for table in (overview_table(models, found, inputs), training_table(models, found, inputs)):
        assert table.caption.endswith("–: test has no labels of ner, so there is no mean over all tasks.")
        assert {row[-1].text for row in table.rows if "ner" in row[0].text} == {"–"}
