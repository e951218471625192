"""What ran: means of dev and test are over the same tasks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.report.runs import overview_table, training_table
from mtlspec.results.evaluations import Evaluation
from mtlspec.results.variants import variants
from tests.model_rows import model_row
from tests.trainings import write_training


def test_both_means_of_a_model_of_chosen_tasks_are_over_all_that_it_learnt(tmp_path: Path) -> None:
    row = replace(model_row("oracle", ["pos"]), select="select-oracle-pos", chosen=("dep", "ner"))
    dev, test = {"pos": 90.0, "dep": 60.0, "ner": 30.0}, {"pos": 80.0, "dep": 50.0, "ner": 20.0}
    scores = {task: {"accuracy": value} for task, value in dev.items()}
    kept = {"epoch": 1, "update": 5, "scores": scores, "mean": 60.0, "best": True}
    (tmp_path / "epochs.json").write_text(json.dumps([kept]))
    about = {task: {"main": "accuracy", "test": {"accuracy": value}} for task, value in test.items()}
    evaluations = {row.evaluate: Evaluation(about, dict.fromkeys(test, TagAccuracy()), {})}
    models, inputs = variants([row]), {row.train: write_training(tmp_path, ["pos", "dep", "ner"])}
    for make in (overview_table, training_table):
        table = make(models, evaluations, inputs)
        (cells,) = table.rows
        assert [cell.value for cell in cells[-2:]] == [60.0, 50.0]
        # With `keep: last` no epoch was chosen by dev, and nothing may say so.
        assert table.columns[-3] == "kept epoch" and "or the last one where `train.keep` says so" in table.caption
