"""What is told to MLflow, before anything is sent."""

from __future__ import annotations

import json
from pathlib import Path

from mtlspec.io.write import write_json
from mtlspec.plan.types import Plan
from mtlspec.track.items import items
from tests.finished_run import FinishedRun, read


def test_a_model_with_one_seed_is_not_called_a_mean(unpublished: FinishedRun) -> None:
    unpublished.places.stage_record("train-stl-ner-s2").unlink()
    notes = {
        item.name: item.tags.get("mlflow.note.content", "") for item in items(unpublished.plan, unpublished.places)
    }
    one = "Scores of its one seed, 1, which is the child run. The duration is its computing time."
    assert notes["stl: ner"] == one
    assert notes["stl: pos"].startswith("Means over the seeds 1, 2, which are the child runs;")


def test_every_corpus_of_a_model_is_a_dataset_and_further_splits_are_scores(
    finished: FinishedRun, tmp_path: Path
) -> None:
    run = finished.copy_to(tmp_path / "copy")
    raw = run.plan.model_dump(mode="json")
    places = {"data-toy": "data-more", "prepare-toy-tiny": "prepare-more-tiny"}
    for stage in [stage for stage in raw["stages"] if stage["name"] in places]:
        name = places[stage["name"]]
        inputs = {role: places.get(parent, parent) for role, parent in stage["inputs"].items()}
        raw["stages"].insert(3, {**stage, "name": name, "inputs": inputs})
        record = read(run.places.stage_record(stage["name"]))
        if stage["kind"] == "data":
            record["artifact"] = {"other.tsv": "b" * 64}
        else:
            record["facts"]["sentences"] = {"dev": 1, "far": 1, "test": 1, "train": 2}
        write_json(run.places.stage_record(name), record)
    for stage in raw["stages"]:
        if stage["name"].startswith(("train-mtl", "report")):
            stage["inputs"]["prepare-more"] = "prepare-more-tiny"
    evaluation = run.places.artifact("evaluate-mtl-all-s1") / "scores.json"
    scores = read(evaluation)
    scores["pos"]["far"] = scores["pos"].pop("test")
    scores["ner"].pop("test")
    write_json(evaluation, scores)
    found = {item.name: item for item in items(Plan.model_validate_json(json.dumps(raw)), run.places)}
    joint, single, report = found["mtl: pos + ner"], found["stl: pos"], found["report of study"]
    assert [(corpus.name, corpus.splits) for corpus in joint.datasets] == [
        ("toy", "train, dev, test"),
        ("more", "train, dev, test, far"),
    ]
    assert len({corpus.digest for corpus in joint.datasets}) == 2
    assert [corpus.name for corpus in single.datasets] == ["toy"]
    assert report.datasets == joint.datasets
    tags = found["mtl-all-s1"].tags
    assert {tags[f"mtlspec.data.digest.{corpus.name}"] for corpus in joint.datasets} == {
        corpus.digest for corpus in joint.datasets
    }
    assert set(joint.headline) == {"far/pos/accuracy", "dev/ner/f1"}
