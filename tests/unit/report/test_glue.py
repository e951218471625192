"""The zip that the GLUE server takes: eleven tables, the same bytes every time, only where every task is there."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from mtlspec.errors import StageError
from mtlspec.plan.rows import ModelRow
from mtlspec.report.glue import LABELS, submissions
from tests.model_rows import model_row

TASKS: dict[str, dict[str, Any]] = {name.lower(): {"glue": name} for name in LABELS} | {"pos": {}}
GLUE = [task for task in TASKS if task != "pos"]
SETS = {"CoLA", "SST-2", "MRPC", "STS-B", "MNLI-m", "MNLI-mm", "QNLI", "QQP", "RTE", "WNLI", "AX"}


def _write(folder: Path, tasks: tuple[str, ...]) -> Path:
    """Two predictions for each test set."""
    for task in tasks:
        labels = LABELS.get(TASKS[task].get("glue", ""))
        shown = sorted(labels)[:2] if labels else ["-0.25", "3.14159"]
        splits = ("glue_test", "glue_test_mismatched", "glue_ax") if task == "mnli" else ("glue_test",)
        for split in splits:
            path = folder / "predictions" / split / f"{task}.tsv"
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [f"{number}\tx{number}\tsome text\t_\t{label}\n" for number, label in enumerate(shown)]
            path.write_text("index\tid\ttext\tgold\tprediction\n" + "".join(lines))
    return folder


def _made(root: Path, rows: list[ModelRow]) -> dict[str, bytes]:
    inputs = {row.evaluate: _write(root / row.evaluate, row.tasks) for row in rows}
    return submissions(TASKS, rows, inputs)


def test_a_model_of_all_tasks_gives_eleven_tables(tmp_path: Path) -> None:
    (name, content), *others = _made(tmp_path / "a", [model_row("mtl", [*GLUE, "pos"])]).items()
    assert (name, others) == ("mtl-s1.zip", [])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {Path(file).stem for file in archive.namelist()} == SETS
        assert archive.read("STS-B.tsv") == b"index\tprediction\n0\t0.000\n1\t3.142\n"
        assert archive.read("AX.tsv") == b"index\tprediction\n0\tcontradiction\n1\tentailment\n"
        assert archive.read("RTE.tsv") == b"index\tprediction\n0\tentailment\n1\tnot_entailment\n"
        assert archive.read("CoLA.tsv") == b"index\tprediction\n0\t0\n1\t1\n"
    assert _made(tmp_path / "b", [model_row("mtl", [*GLUE, "pos"])])["mtl-s1.zip"] == content


def test_single_task_models_of_a_group_go_together(tmp_path: Path) -> None:
    assert list(_made(tmp_path, [model_row("stl", [task]) for task in [*GLUE, "pos"]])) == ["stl-s1.zip"]


def test_there_is_no_zip_without_every_task_or_with_one_twice(tmp_path: Path) -> None:
    assert _made(tmp_path / "a", [model_row("mtl", GLUE[1:])]) == {}
    assert _made(tmp_path / "b", [model_row("x", GLUE), model_row("x", GLUE[:1])]) == {}
    rows = [model_row("mtl", GLUE)]
    inputs = {rows[0].evaluate: _write(tmp_path / "c", rows[0].tasks)}
    (tmp_path / "c" / "predictions" / "glue_ax" / "mnli.tsv").unlink()
    assert submissions(TASKS, rows, inputs) == {}


def test_predictions_of_json_lines_serve_as_well(tmp_path: Path) -> None:
    rows = [model_row("mtl", GLUE)]
    inputs = {rows[0].evaluate: _write(tmp_path, rows[0].tasks)}
    content = submissions(TASKS, rows, inputs)["mtl-s1.zip"]
    for task, shown in (("rte", ["entailment", "not_entailment"]), ("sts-b", [-0.25, 3.14159])):
        path = tmp_path / "predictions" / "glue_test" / f"{task}.tsv"
        path.unlink()
        lines = [json.dumps({"index": i, "id": "x", "gold": None, "prediction": p}) for i, p in enumerate(shown)]
        path.with_suffix(".jsonl").write_text("".join(f"{line}\n" for line in lines))
    assert submissions(TASKS, rows, inputs)["mtl-s1.zip"] == content


def test_a_label_that_glue_does_not_have_is_refused(tmp_path: Path) -> None:
    rows = [model_row("mtl", GLUE)]
    folder = _write(tmp_path, rows[0].tasks)
    (folder / "predictions" / "glue_test" / "rte.tsv").write_text("index\tid\ttext\tgold\tprediction\n0\t1\tx\t_\t1\n")
    with pytest.raises(StageError, match="GLUE has no label '1' here") as caught:
        submissions(TASKS, rows, {rows[0].evaluate: folder})
    assert caught.value.code == "E475"


def test_a_test_set_that_lost_rows_gives_a_reason_and_no_zip(tmp_path: Path) -> None:
    """The rows behind a dropped one would have the wrong numbers."""
    rows = [model_row("mtl", GLUE)]
    inputs = {rows[0].evaluate: _write(tmp_path / "c", rows[0].tasks)}
    tasks = {task: {**TASKS[task], "data": task} for task in GLUE}
    for task in GLUE:
        inputs[f"prepare-{task}"] = tmp_path / task
        (tmp_path / task).mkdir()
        (tmp_path / task / "dropped.json").write_text(json.dumps({"train": ["train.tsv:3: E701: ragged"]}))
    assert list(submissions(tasks, rows, inputs)) == ["mtl-s1.zip"]
    (tmp_path / "qqp" / "dropped.json").write_text(json.dumps({"glue_test": ["test.tsv:7: E713: the text is empty"]}))
    assert submissions(tasks, rows, inputs) == {
        "mtl-s1.txt": b"GLUE takes whole test sets only, and these rows were dropped:\n"
        b"qqp, glue_test: test.tsv:7: E713: the text is empty\n"
    }
