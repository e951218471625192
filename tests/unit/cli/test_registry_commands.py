"""`registry list`, `show` and `diff` from the command line."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.io.write import write_json
from mtlspec.track.record import write_record
from tests.finished_run import FinishedRun, make_run, read
from tests.terminal import in_terminal, lines


@pytest.fixture(autouse=True)
def inside(study: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.project.root)


def test_registry_list_and_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["registry", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["spec"], row["models"], row["missing"], row["state"]) == ("study", 4, 0, "broken")
    assert mtlspec(["registry", "list"]) == 0
    assert "study" in capsys.readouterr().out
    assert mtlspec(["registry", "show", "study"]) == 0
    text = capsys.readouterr().out
    assert "pair: pos + ner" in text
    assert "it cannot be planned today: error E822: its stages are broken; run it again" in text
    assert mtlspec(["registry", "show", "study", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spec"]["name"] == "study"


def test_signatures_are_lines_to_be_copied(
    study: FinishedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mtlspec(["registry", "show", "study", "--signatures"]) == 0
    said = dict(line.split("  ") for line in capsys.readouterr().out.splitlines())
    record = read(study.places.record)
    assert said.keys() == {key for model in record["models"] for key in model["scores"] if not key.endswith("/mean")}
    assert said == record["stages"]["report"]["facts"]["signatures"]["scores"]
    assert said["test/pos/accuracy"].startswith("accuracy|metric:tag_accuracy|layer:pos|data:toy/test@")
    del record["stages"]["report"]["facts"]["signatures"]
    write_json(tmp_path / "record.json", record)
    assert mtlspec(["registry", "show", str(tmp_path / "record.json"), "--signatures"]) == 5
    told = capsys.readouterr().err
    assert "E571: the record of 'study' was made before scores had signatures; `mtlspec run study` makes" in told


def test_registry_diff_exits_1_where_records_differ(
    study: FinishedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mtlspec(["registry", "diff", "study", "study"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("equal: 16 scores of 4 models\n") and "+0.00" not in text
    other = read(study.places.record)
    other["spec"]["resolved"]["train"]["epochs"] = 7
    other["models"][0]["scores"]["test/mean"]["mean"] += 1
    write_json(tmp_path / "record.json", other)
    assert mtlspec(["registry", "diff", "study", str(tmp_path / "record.json")]) == 1
    text = capsys.readouterr().out
    assert "spec train.epochs: 3 → 7" in text
    assert "equal: 15 scores of 4 models besides those below" in text
    assert "+1.00" in text and "+0.00" not in text
    assert "mean ± deviation over 1 seed; no test: it needs two seeds of either run, and scores that differ" in text


def test_a_diff_shows_deviations_differences_and_tests(
    study: FinishedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = make_run(tmp_path / "a", seeds=(1, 2))
    record = write_record(two.plan, two.places)
    for stage in record["stages"].values():
        stage["scores"] = {key: value + 30 for key, value in stage["scores"].items()}
    for model in record["models"]:
        for score in model["scores"].values():
            score["mean"] += 30
    write_json(tmp_path / "better.json", record)
    assert mtlspec(["registry", "diff", str(two.places.record), str(tmp_path / "better.json")]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert re.search(r"pos/accuracy [\d.]+ ± [\d.]+ [\d.]+ ± [\d.]+ \+30\.00 \(\S+ to \S+\) [\d.]+", text)
    assert "p of Welch's test over seeds, Holm's correction over each split" in text
    assert f"first {two.places.record}" in text and "score first second difference p" in text


def test_a_diff_says_which_models_it_cannot_test_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], study: FinishedRun
) -> None:
    two = make_run(tmp_path / "a", seeds=(1, 2))
    record = write_record(two.plan, two.places)
    for name, stage in record["stages"].items():
        stage["scores"] = {key: value + 1 for key, value in stage["scores"].items()}
        if name.startswith("train-mtl-"):
            stage["inputs"] = {**stage["inputs"], "start": "f" * 64}
    write_json(tmp_path / "started.json", record)
    assert mtlspec(["registry", "diff", str(two.places.record), str(tmp_path / "started.json")]) == 0
    text = capsys.readouterr().out
    tested = {line.split()[0]: "(" in line for line in text.splitlines() if " pos/accuracy " in line}
    assert tested == {"stl-pos": True, "pair-pos-ner": True, "mtl-all": False}
    assert (
        "; no test of mtl-all: all runs of one side start from one trained model and share its luck, "
        "which the other side does not\n"
    ) in text


def _age(run: FinishedRun) -> None:
    """Make the record one that an older mtlspec wrote."""
    record = read(run.places.record)
    (card,) = record["data"].pop("cards").values()
    write_json(run.places.record, {**record, "format": 1, "data": {**record["data"], "card": card}})


def test_an_outgrown_record_is_shown_and_not_proven(own: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    _age(own)
    assert mtlspec(["registry", "list"]) == 0
    assert "outgrown" in capsys.readouterr().out
    assert mtlspec(["registry", "show", "study"]) == 0
    text = capsys.readouterr().out
    assert "pair: pos + ner" in text
    assert "the record is outgrown: an older mtlspec wrote it (format 1, today's is 2)" in text
    assert mtlspec(["registry", "diff", "study", "study"]) == 0
    assert mtlspec(["status"]) == 0
    capsys.readouterr()
    assert mtlspec(["verify", "study"]) == 5
    said = capsys.readouterr().err
    assert "error E518: the record is outgrown" in said
    assert "`mtlspec run study` computes it anew" in said
    (own.places.artifact("report") / "report.html").unlink()
    assert mtlspec(["report", "study"]) == 6
    assert "E622: the report of 'study' is not on this machine, and the record is outgrown" in capsys.readouterr().err


def test_scores_are_those_that_the_spec_calls_main(own: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    record = read(own.places.record)
    record["spec"]["resolved"]["tasks"]["ner"]["metric"] = "recall"
    for model in record["models"]:
        model["scores"] = {key: value for key, value in model["scores"].items() if not key.startswith("test/pos/")}
    write_json(own.places.record, record)
    assert mtlspec(["registry", "show", "study"]) == 0
    text = capsys.readouterr().out
    assert "pos accuracy" in text
    assert "ner recall" in text
    assert "test gives no score of pos: predictions are written, and the report says why" in text


def test_the_list_and_the_diff_tell_of_unscored_models_and_further_splits(
    own: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    record = read(own.places.record)
    for model in record["models"]:
        if "ner" in model["tasks"]:
            del model["scores"]["test/mean"]
        model["scores"]["far/pos/accuracy"] = {"mean": 12.5, "std": None, "n": 1}
    write_json(own.places.record, record)
    assert mtlspec(["registry", "list"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "(1 of 2 models), pair –, mtl –" in text
    for model in record["models"]:
        model["scores"]["far/pos/accuracy"]["mean"] = 13.0
    write_json(own.places.base / "other.json", record)
    mtlspec(["registry", "diff", "study", str(own.places.base / "other.json")])
    text = capsys.readouterr().out
    assert "far/pos/accuracy" in text and "+0.50" in text


def test_the_gpu_of_an_environment_is_shown(own: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    record = read(own.places.record)
    label = next(iter(record["environments"]))
    record["environments"][label] |= {"gpu": {"name": "Tesla T4"}, "cpu": {"model": "Some CPU"}}
    write_json(own.places.record, record)
    assert mtlspec(["registry", "show", "study"]) == 0
    assert ", Some CPU, Tesla T4, " in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("columns", [80, 140])
def test_a_diff_fits_the_terminal_and_only_counts_what_one_run_has(
    columns: int, tmp_path: Path, study: FinishedRun
) -> None:
    two = make_run(tmp_path / "a", seeds=(1, 2))
    record = write_record(two.plan, two.places)
    for stage in record["stages"].values():
        stage["scores"] = {key: value + 30 for key, value in stage["scores"].items()}
    gone, *others = record["models"]
    gone["name"] = "elsewhere"
    del others[-1]["scores"]["test/mean"]
    write_json(tmp_path / "b.json", record)
    command = [sys.executable, "-m", "mtlspec", "registry", "diff", "../a/registry/runs/study/record.json", "../b.json"]
    (tmp_path / "here/registry").mkdir(parents=True)
    (tmp_path / "here/specs").mkdir()
    _, drawn = in_terminal(command, tmp_path / "here", os.environ, columns)
    shown = lines(drawn)
    assert max(map(len, shown)) <= columns
    assert "only in ../a/registry/runs/study/record.json: 1 model, 1 score of models that both have" in " ".join(shown)
    assert "only in ../b.json: 1 model" in shown
    named = [line.split()[0] for line in shown]
    assert "elsewhere" not in named and others[0]["name"] in named  # whole, in a line of its own or in a column
    assert ("mean ± deviation over 2 seeds" in " ".join(shown)) == any(re.search(r"\d ± \d", line) for line in shown)
