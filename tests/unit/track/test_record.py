"""The record says what went in and came out, and what changed since."""

from __future__ import annotations

import copy
import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import ttest_ind

from mtlspec.errors import IntegrityError
from mtlspec.io.digest import digest_value, pretty_json
from mtlspec.io.write import write_json
from mtlspec.plan.types import Plan
from mtlspec.results.inference import ONE_START
from mtlspec.track.compare import Change, diff, staleness, told
from mtlspec.track.record import aggregate, build_record, outgrown, read_record, write_record
from mtlspec.track.registry import find_record, overview, run_names
from mtlspec.track.score_rows import score_rows
from tests.finished_run import FinishedRun, make_run, read


def test_the_record_holds_digests_and_aggregates(finished: FinishedRun) -> None:
    record = build_record(finished.plan, finished.places)
    assert record["missing"] == []
    assert set(record["stages"]) == {stage.name for stage in finished.plan.stages}
    evaluate = record["stages"]["evaluate-stl-pos-s1"]
    manifest = read(finished.places.artifact("evaluate-stl-pos-s1") / "manifest.json")["files"]
    assert evaluate["files"] == manifest
    assert evaluate["artifact"] == digest_value(manifest)
    model = next(model for model in record["models"] if model["name"] == "stl-pos")
    values = [record["stages"][f"evaluate-stl-pos-s{seed}"]["scores"]["test/pos/accuracy"] for seed in (1, 2)]
    assert model["scores"]["test/pos/accuracy"]["mean"] == pytest.approx(statistics.mean(values))
    assert model["scores"]["test/pos/accuracy"]["std"] == pytest.approx(statistics.stdev(values))
    assert model["scores"]["test/pos/accuracy"]["n"] == 2
    assert overview(record)["models"] == 8
    for model in record["models"]:
        if model["name"] in ("stl-ner", "mtl-all"):  # as if test had no labels of ner
            del model["scores"]["test/mean"]
    line = overview(record)
    assert line["test"]["mtl"] is None
    assert line["scored"] == {"stl": [1, 2], "pair": [1, 1], "mtl": [0, 1]}


def test_the_record_has_the_same_bytes_in_another_place(finished: FinishedRun, tmp_path: Path) -> None:
    other = make_run(tmp_path / "elsewhere")
    text = pretty_json(build_record(finished.plan, finished.places))
    assert text == pretty_json(build_record(other.plan, other.places))
    assert str(finished.project.root) not in text


def test_stages_that_did_not_run_are_named(finished: FinishedRun, tmp_path: Path) -> None:
    run = finished.copy_to(tmp_path / "copy")
    for seed in (2, 1):
        run.places.stage_record(f"evaluate-stl-pos-s{seed}").unlink()
    record = write_record(run.plan, run.places)
    assert record["missing"] == ["evaluate-stl-pos-s1", "evaluate-stl-pos-s2"]
    assert next(model for model in record["models"] if model["name"] == "stl-pos")["scores"] == {}
    found = staleness(record, run.plan)
    assert found.stages == ("evaluate-stl-pos-s1", "evaluate-stl-pos-s2")
    assert run_names(run.project) == ("study",)
    with pytest.raises(IntegrityError, match="E525: the registry has no record of 'studdy'; did you mean 'study'"):
        find_record(run.project, "studdy")


def test_an_artifact_that_is_not_the_recorded_one_is_refused(finished: FinishedRun, tmp_path: Path) -> None:
    run = finished.copy_to(tmp_path / "copy")
    write_json(run.places.artifact("data-toy") / "manifest.json", {"files": {"train.conllu": "0" * 64}})
    with pytest.raises(IntegrityError, match="E524"):
        build_record(run.plan, run.places)


def test_a_broken_record_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text("{")
    with pytest.raises(IntegrityError, match="E522"):
        read_record(tmp_path / "record.json")
    with pytest.raises(IntegrityError, match="E521"):
        read_record(tmp_path / "nothing.json")


def test_equal_records_are_identical(finished: FinishedRun) -> None:
    record = build_record(finished.plan, finished.places)
    found = diff(record, copy.deepcopy(record))
    assert found.identical
    assert len(found.equal) == len(finished.plan.stages)
    assert all(row.difference == 0 for row in found.scores)


def test_a_score_that_was_edited_is_a_difference(finished: FinishedRun) -> None:
    record = build_record(finished.plan, finished.places)
    edited = copy.deepcopy(record)
    edited["models"][0]["scores"]["test/mean"]["mean"] += 0.5
    found = diff(record, edited)
    assert len(found.equal) == len(finished.plan.stages)
    assert not found.identical
    del edited["models"][0]["scores"]["test/mean"]
    assert not diff(record, edited).identical


def test_a_diff_names_what_changed(finished: FinishedRun) -> None:
    a = build_record(finished.plan, finished.places)
    b = copy.deepcopy(a)
    b["spec"]["resolved"]["train"]["lr"]["encoder"] = 1e-4
    b["code"]["files"]["model/taggers/crf.py"] = "2" * 64
    b["data"]["cards"]["toy"]["sha256"]["train.conllu"] = "b" * 64
    next(iter(b["environments"].values()))["python"] = "CPython 3.12.1"
    b["lock"] = "d" * 64
    b["stages"]["evaluate-mtl-all-s1"]["artifact"] = "c" * 64
    b["models"][0]["scores"]["test/mean"]["mean"] += 1.5
    found = diff(a, b)
    assert [str(change) for change in found.changes] == [
        "spec train.lr.encoder: 5e-05 → 0.0001",
        "data toy.sha256.train.conllu changed",
        "code: model/taggers/crf.py changed",
        "environment lock file added",
        "environment python: CPython 3.11.9 → CPython 3.12.1",
    ]
    assert found.different == ("evaluate-mtl-all-s1",)
    assert {row.score: row.difference for row in found.scores if row.difference} == {"test/mean": pytest.approx(1.5)}
    assert found.as_json()["identical"] is False


def test_scores_are_tested_over_seeds_and_corrected_within_their_split() -> None:
    def record(scores: dict[str, list[float]]) -> dict[str, Any]:
        seeds = range(len(next(iter(scores.values()))))
        per_seed = [{key: values[seed] for key, values in scores.items()} for seed in seeds]
        runs = [{"seed": seed, "train": "", "evaluate": f"evaluate-{seed}"} for seed in seeds]
        stages = {f"evaluate-{seed}": {"scores": per_seed[seed]} for seed in seeds}
        return {"stages": stages, "models": [{"name": "mtl", "runs": runs, "scores": aggregate(list(per_seed))}]}

    a = {
        "test/x": [80.0, 81.0, 79.5],
        "test/y": [50.0, 50.5, 51.0],
        "test/z": [1.0, 2.0, 3.0],
        "dev/x": [1.0, 2.0, 4.0],
    }
    b = {
        "test/x": [84.0, 85.5, 83.0],
        "test/y": [50.5, 51.5, 50.0],
        "test/z": [1.0, 2.0, 3.0],
        "dev/x": [9.0, 8.0, 7.0],
    }
    rows = {row.score: row for row in score_rows(record(a), record(b))}
    welch = {key: float(ttest_ind(b[key], a[key], equal_var=False).pvalue) for key in a if key != "test/z"}
    assert {key: row.p for key, row in rows.items() if row.p is not None} == pytest.approx(welch)
    assert rows["test/x"].p_holm == pytest.approx(2 * welch["test/x"])  # of two tests of the split, the smaller p
    assert rows["test/y"].p_holm == pytest.approx(welch["test/y"])
    assert rows["dev/x"].p_holm == pytest.approx(welch["dev/x"])
    assert (rows["test/x"].a_std, rows["test/x"].seeds) == (pytest.approx(0.763763), (3, 3))
    low, high = rows["test/x"].interval or (0.0, 0.0)
    assert low < rows["test/x"].difference < high and low > 0  # type: ignore[operator]
    assert (rows["test/z"].difference, rows["test/z"].p) == (0, None)
    alone = score_rows(record({"test/x": [80.0]}), record({"test/x": [81.0]}))
    assert [(row.difference, row.a_std, row.p) for row in alone] == [(1.0, None, None)]


def _started(starts: list[str | None], shift: float, further: dict[str, str] | None = None) -> dict[str, Any]:
    """A record of one model with a run for each start, which is the digest of a trained model; `further`: its own."""
    scores = [{"test/x": 80.0 + shift + seed} for seed in range(len(starts))]
    runs = [{"seed": seed, "train": f"train-{seed}", "evaluate": f"evaluate-{seed}"} for seed in range(len(starts))]
    stages: dict[str, Any] = {f"evaluate-{seed}": {"scores": of_seed} for seed, of_seed in enumerate(scores)}
    for seed, start in enumerate(starts):
        inputs = {"encoder": "same", **({"start": start} if start else {})}
        stages[f"train-{seed}"] = {"kind": "train", "inputs": inputs, "artifact": f"{shift}-{seed}"}
    for digest, start in (further or {}).items():
        stages[f"train-{digest}"] = {"kind": "train", "inputs": {"start": start}, "artifact": digest}
    return {"stages": stages, "models": [{"name": "mtl", "runs": runs, "scores": aggregate(list(scores))}]}


def test_runs_of_one_start_are_tested_only_against_runs_of_the_same_start() -> None:
    alone, one, own = _started([None] * 3, 0), _started(["s"] * 3, 5), _started(["a", "b", "c"], 5)
    (untested,) = score_rows(alone, one)
    assert (untested.difference, untested.p, untested.p_holm, untested.interval) == (5.0, None, None, None)
    assert untested.why == ONE_START
    (tested,) = score_rows(alone, own)
    assert tested.p is not None and tested.why == ""
    assert score_rows(_started(["s"] * 3, 0), one)[0].p == tested.p
    assert score_rows(_started(["other"] * 3, 0), one)[0].why == ONE_START
    deeper = _started(["a", "b", "c"], 5, further={"a": "s", "b": "s", "c": "s"})
    assert score_rows(alone, deeper)[0].why == ONE_START, "they share the start of their starts"
    assert score_rows(_started([None], 0), _started(["s"], 5))[0].why == "", "one seed was never tested"


def test_stages_that_know_more_about_the_environment_are_no_difference(finished: FinishedRun) -> None:
    a = build_record(finished.plan, finished.places)
    b = copy.deepcopy(a)
    (label,) = b["environments"]
    b["environments"]["other"] = {**b["environments"][label], "threads": 2}
    assert [str(change) for change in diff(a, b).changes] == ["environment threads: 1 → 1, 2"]


def test_staleness_says_why(finished: FinishedRun) -> None:
    record = build_record(finished.plan, finished.places)
    assert not staleness(record, finished.plan).stale
    raw = finished.plan.model_dump(mode="json")
    raw["units"][0]["files"]["model/taggers/crf.py"] = "f" * 64
    raw["units"][0]["packages"]["torch"] = "2.14.0"
    raw["stages"][-1]["params"]["spec"]["train"]["epochs"] = 9
    raw["stages"][3]["id"] = "0" * 16
    found = staleness(record, Plan.model_validate_json(pretty_json(raw)))
    assert found.stages == (finished.plan.stages[3].name,)
    assert [str(reason) for reason in found.reasons] == [
        "spec train.epochs: 3 → 9",
        "code: model/taggers/crf.py changed",
        "package torch: 2.13.0 → 2.14.0",
    ]


def test_what_changed_is_one_phrase_each_and_never_a_dump() -> None:
    changes = [
        Change("spec", "analyses.heads", None, {"type": "head_importance", "sentences": 32}),
        Change("spec", "models.mtl.sharing", {"type": "hard"}, {"type": "l0", "lambda": 0.5}),
        Change("spec", "models.mtl.train.epochs", 1, 3),
        Change("spec", "models.pair.train.epochs", 1, 2),
        Change("spec", "train.epochs", 1, 3),
        Change("data", "toy.files", [{"reader": {"type": "conllu"}}], [{"reader": {"type": "jsonl"}}]),
        *(Change("code", f"model/{name}.py", "a" * 64, "b" * 64) for name in "xyz"),
        *(Change("stages", name, None, "0" * 16) for name in ("report", "train-mtl-s1")),
    ]
    assert told(changes) == [
        "spec analyses.heads added",
        "spec models.mtl.sharing: hard → l0",
        "spec models.pair.train.epochs: 1 → 2",
        "spec train.epochs: 1 → 3",
        "data toy.files changed",
        "code: model/x.py changed (and 2 more)",
        "stage report has not run (and 1 more)",
    ]


def test_a_record_of_an_older_format_is_read_and_said_to_be_outgrown(finished: FinishedRun, tmp_path: Path) -> None:
    record = json.loads(pretty_json(build_record(finished.plan, finished.places)))
    assert outgrown(record) is None
    older = {**record, "format": 1, "data": {**record["data"], "card": record["data"]["cards"]["toy"]}}
    del older["data"]["cards"]
    write_json(tmp_path / "record.json", older)
    again = read_record(tmp_path / "record.json")
    assert outgrown(again) == "the record is outgrown: an older mtlspec wrote it (format 1, today's is 2)"
    assert again["data"] == record["data"]
    assert diff(again, record).identical
    assert not staleness(again, finished.plan).stale
    write_json(tmp_path / "record.json", {**record, "format": 3})
    with pytest.raises(IntegrityError, match="E522"):
        read_record(tmp_path / "record.json")
