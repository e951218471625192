"""`mtlspec.use.results`: a finished run as frames, whose numbers are those of the record and of the analyses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mtlspec import results
from mtlspec.errors import IntegrityError
from mtlspec.io.manifest import write_manifest
from mtlspec.io.project import RunPlaces
from mtlspec.use.frames import Results
from tests.finished_run import FinishedRun


@pytest.fixture
def found(study: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> Results:
    monkeypatch.chdir(study.project.root)
    return results("study")


def test_scores_are_those_of_the_record(found: Results, study: FinishedRun) -> None:
    record = json.loads(study.places.record.read_bytes())
    scores = found.scores
    assert list(scores.columns) == ["model", "group", "seed", "split", "task", "metric", "score", "signature"]
    for model in record["models"]:
        own = scores[(scores.model == model["name"]) & (scores.split == "test") & (scores.task == "pos")]
        for metric, values in own.groupby("metric")["score"]:
            over = model["scores"][f"test/pos/{metric}"]
            assert (values.mean(), len(values)) == (pytest.approx(over["mean"]), over["n"])
    means = scores[(scores.task == "") & (scores.metric == "mean") & (scores.split == "test")]
    assert len(means) == sum(len(model["runs"]) for model in record["models"])


def test_every_score_has_the_signature_that_the_report_wrote(found: Results) -> None:
    said = found.record["stages"]["report"]["facts"]["signatures"]["scores"]
    for row in found.scores.itertuples():
        if row.task:
            assert row.signature == said[f"{row.split}/{row.task}/{row.metric}"]
            assert row.signature.startswith(f"{row.metric}|metric:") and f"|data:toy/{row.split}@" in row.signature
        else:
            parts = [f"{task}/{'accuracy' if task == 'pos' else 'f1'}" for task in ("pos", "ner") if task in row.model]
            parts = parts or ["pos/accuracy", "ner/f1"]  # mtl-all
            assert row.signature.startswith(f"mean|of:{'+'.join(parts)}|signatures:")
    assert "".join(Results({**found.record, "stages": {}}, RunPlaces(Path())).scores.get("signature", [])) == ""


def test_a_model_with_another_metric_has_its_own_signatures(found: Results) -> None:
    record = json.loads(json.dumps(found.record))
    record["stages"]["report"]["facts"]["signatures"]["models"] = {"stl-pos": {"test/pos/accuracy": "another"}}
    scores = Results(record, RunPlaces(Path())).scores.query("split == 'test' and metric in ('accuracy', 'mean')")
    by_model = {key: set(values) for key, values in scores.groupby(["model", "metric"]).signature}
    assert by_model["stl-pos", "accuracy"] == {"another"} != by_model["mtl-all", "accuracy"]
    before = found.scores.query("split == 'test' and metric == 'mean' and model == 'stl-pos'")
    assert by_model["stl-pos", "mean"].isdisjoint(before.signature)


def test_a_record_file_gives_the_same(found: Results, study: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path("/"))
    assert results(str(study.places.record)).scores.equals(found.scores)


def test_labels_are_those_of_the_evaluations(found: Results, study: FinishedRun, tmp_path: Path) -> None:
    run = study.copy_to(tmp_path / "copy")
    path = run.places.artifact("evaluate-stl-pos-s2") / "scores.json"
    scores = json.loads(path.read_bytes())
    scores["pos"]["labels"] = {"NOUN": {"f1": 75.0, "support": 4}, "VERB": {"f1": 50.0, "support": 2}}
    path.write_text(json.dumps(scores))
    labels = Results(found.record, run.places).labels
    about = {"model": ["stl-pos"] * 2, "group": ["stl"] * 2, "seed": [2, 2], "task": ["pos"] * 2}
    assert labels.to_dict("list") == {**about, "label": ["NOUN", "VERB"], "f1": [75.0, 50.0], "support": [4, 2]}
    assert found.labels.empty


def test_tests_are_those_of_the_analysis(found: Results, study: FinishedRun) -> None:
    numbers = json.loads((study.places.artifact("analyse-scores") / "analysis.json").read_bytes())["numbers"]
    tests = found.tests
    assert len(tests) == len(numbers["tests"]) > 0 and set(tests.analysis) == {"scores"}
    for row, told in zip(tests.itertuples(), numbers["tests"], strict=True):
        assert (row.model, row.task, row.baseline) == (told["model"], told["task"], told["baseline"])
        assert (row.difference, row.p_holm) == (told["found"]["difference"], told["p_holm"])
        assert [row.low, row.high] == told["found"]["interval"]


def test_atlases_of_heads_have_the_name_of_their_analysis(found: Results, study: FinishedRun, tmp_path: Path) -> None:
    run = study.copy_to(tmp_path / "copy")
    folder = run.places.artifact("analyse-atlas")
    folder.mkdir()
    pq.write_table(pa.table({"layer": [0, 0], "head": [0, 1], "value": [0.5, 0.25]}), folder / "heads.parquet")
    write_manifest(folder)
    resolved = {**found.record["spec"]["resolved"], "analyses": {"atlas": {"type": "head_importance"}}}
    record = {**found.record, "spec": {**found.record["spec"], "resolved": resolved}}
    assert Results(record, run.places).heads.to_dict("list") == {
        "analysis": ["atlas"] * 2, "layer": [0, 0], "head": [0, 1], "value": [0.5, 0.25],
    }  # fmt: skip
    assert found.heads.empty


def test_what_is_not_there_is_one_line(found: Results, study: FinishedRun, tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="E525: the registry has no record of 'studi'; did you mean 'study'"):
        results("studi")
    run = study.copy_to(tmp_path / "copy")
    shutil.rmtree(run.places.artifact("analyse-scores"))
    with pytest.raises(IntegrityError, match="E543: the analysis 'scores' is not on this machine; `mtlspec run study`"):
        Results(found.record, run.places).tests  # noqa: B018
