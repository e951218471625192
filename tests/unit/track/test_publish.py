"""The MLflow mirror: complete, and without duplicates."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mtlspec.errors import SetupError
from mtlspec.io.project import Project
from mtlspec.io.write import write_json
from mtlspec.track.items import items
from mtlspec.track.mlflow import publish
from mtlspec.track.outbox import waiting
from mtlspec.track.record import write_record
from mtlspec.track.server import experiment_id, local_uri, quiet_client
from mtlspec.track.view import VIEW_KEY
from tests.finished_run import FinishedRun, read

MODELS, SEEDS = 4, 8  # stl of pos and ner, their pair, all: with two seeds each


@pytest.fixture(scope="module")
def published(finished: FinishedRun, tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Published to a database that publishing made itself."""
    run = finished.copy_to(tmp_path_factory.mktemp("published") / "project")
    write_record(run.plan, run.places)
    report = publish(run.project, "study")
    assert report.warning is None
    assert len(report.created) == MODELS + SEEDS + 1
    return run


@contextmanager
def _client(project: Project) -> Iterator[tuple[Any, str]]:
    with quiet_client(local_uri(project)) as client:
        yield client, client.get_experiment_by_name("study").experiment_id


def _runs(project: Project, level: str | None = None) -> list[Any]:
    with _client(project) as (client, experiment):
        found = client.search_runs([experiment])
        return [run for run in found if level is None or run.data.tags["mtlspec.level"] == level]


def test_a_seed_has_its_parameters_losses_scores_tags_and_files(published: FinishedRun) -> None:
    with _client(published.project) as (client, _):
        (run,) = [run for run in _runs(published.project, "seed") if run.info.run_name == "mtl-all-s2"]
        recorded = read(published.places.stage_record("evaluate-mtl-all-s2"))["scores"]
        assert recorded.items() <= run.data.metrics.items()
        assert run.data.params["train.lr.encoder"] == "5e-05"
        assert run.data.params["tasks.pos.type"] == "tagging"
        assert run.data.tags["mtlspec.seed"] == "2"
        assert run.data.tags["mtlspec.stage_id"] == published.plan.stage("train-mtl-all-s2").id
        assert run.data.metrics["speed/tokens_per_second"] == 12345.0
        losses = client.get_metric_history(run.info.run_id, "loss/pos")
        assert [point.step for point in losses] == list(range(2, 25, 2))
        assert len(client.get_metric_history(run.info.run_id, "lr/encoder")) == 24
        assert [point.step for point in client.get_metric_history(run.info.run_id, "epoch/dev/ner/f1")] == [1, 2, 3]
        (dataset,) = [entry.dataset for entry in run.inputs.dataset_inputs]
        assert dataset.name == "toy"
        assert len(dataset.digest) == 36
        names = {entry.path for entry in client.list_artifacts(run.info.run_id)}
        assert names == {"predictions", "scores.json", "epochs.json", "history.parquet", "model"}


def test_a_model_has_the_mean_and_std_of_its_seeds(published: FinishedRun) -> None:
    runs = {run.info.run_name: run for run in _runs(published.project)}
    parent = runs["pair: pos + ner"]
    children = [run for run in runs.values() if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    values = [run.data.metrics["test/ner/f1"] for run in children]
    assert sorted(run.info.run_name for run in children) == ["pair-pos-ner-s1", "pair-pos-ner-s2"]
    assert parent.data.metrics["test/ner/f1"] == pytest.approx(sum(values) / 2, abs=1e-4)
    deviation = float(parent.data.tags["mtlspec.std.test/ner/f1"])
    assert deviation == pytest.approx(abs(values[0] - values[1]) / 2**0.5, abs=1e-4)
    assert parent.data.metrics.keys() <= children[0].data.metrics.keys(), "nothing else is drawn of a model"
    assert parent.data.params["train.epochs"] == "3"
    assert "seed" not in parent.data.params
    assert {run.info.status for run in runs.values()} == {"FINISHED"}


def test_the_view_shows_the_main_score_of_every_task(published: FinishedRun) -> None:
    with _client(published.project) as (client, experiment):
        state = json.loads(client.get_experiment(experiment).tags[f"mlflow.sharedViewState.{VIEW_KEY}"])
    assert state["selectedColumns"] == [
        "metrics.`test/pos/accuracy`",
        "metrics.`test/ner/f1`",
        "metrics.`test/mean`",
        "tags.`mtlspec.std.test/pos/accuracy`",
        "tags.`mtlspec.std.test/ner/f1`",
        "tags.`mtlspec.std.test/mean`",
        "attributes.`Duration`",
        "tags.`mtlspec.seeds`",
    ]


def test_the_experiment_says_what_was_asked_and_how_to_get_it_again(published: FinishedRun) -> None:
    with _client(published.project) as (client, experiment):
        tags = client.get_experiment(experiment).tags
        assert experiment_id(published.project, "study") == experiment
        assert experiment_id(published.project, "other") is None
    assert tags["mlflow.experimentKind"] == "custom_model_development"
    assert tags["mlflow.note.content"].splitlines() == [
        "A made-up study.",
        "",
        "- **Data**: toy – Toy corpus; 300 train, 60 dev, 60 test",
        "- **Encoder**: tiny",
        "- **Tasks**: ner (tagging), pos (tagging)",
        "- **Models**: 4 models (stl, pair, mtl), each with 2 seeds (1, 2)",
        "- **Reproduce**: `mtlspec run specs/study.yaml` or `dvc repro results@study`",
        "- **Record**: `registry/runs/study/record.json`; MLflow only mirrors it",
    ]


def test_runs_have_their_real_times_and_the_order_of_the_spec(unpublished: FinishedRun) -> None:
    for number, seconds in ((1, 100.25), (2, 20.5)):
        timing = unpublished.places.timing(f"train-pair-pos-ner-s{number}")
        write_json(timing, {"seconds": seconds})
        os.utime(timing, (1e9, 1e9 + number))
    unpublished.places.timing("train-stl-pos-s1").unlink()  # restored from the cache, as its evaluation was
    unpublished.places.timing("evaluate-stl-pos-s1").write_text("torn")
    publish(unpublished.project, "study")
    runs = {run.info.run_name: run for run in _runs(unpublished.project)}
    times = {name: (run.info.start_time, run.info.end_time - run.info.start_time) for name, run in runs.items()}
    assert times["pair-pos-ner-s1"] == (int((1e9 + 1 - 100.25) * 1000), 101_750)  # 1.5 s are its evaluation's
    assert times["pair-pos-ner-s2"] == (int((1e9 + 2 - 20.5) * 1000), 22_000)
    assert times["pair: pos + ner"] == (times["pair-pos-ner-s1"][0], 22_000 + 101_750)
    assert times["stl-pos-s1"][1] == 0
    ordered = sorted(runs.values(), key=lambda run: run.data.tags["mtlspec.order"])
    assert [run.info.run_name for run in ordered] == [item.name for item in items(unpublished.plan, unpublished.places)]


def test_data_and_encoder_are_among_the_parameters(published: FinishedRun) -> None:
    for run in _runs(published.project):
        if run.data.tags["mtlspec.level"] != "report":
            assert (run.data.params["data"], run.data.params["encoder"]) == ("toy", "toy")
            assert "encoder.card" not in run.data.params


def test_publishing_again_changes_nothing(published: FinishedRun) -> None:
    before = {run.info.run_id for run in _runs(published.project)}
    report = publish(published.project, "study")
    assert (report.sent, report.removed, report.pending) == (0, [], [])
    assert len(report.unchanged) == MODELS + SEEDS + 1
    assert {run.info.run_id for run in _runs(published.project)} == before
    assert waiting(published.project) == ()
    assert len(publish(published.project, "study", quick=True).unchanged) == MODELS + SEEDS + 1


def test_what_changed_is_replaced_and_what_is_gone_is_removed(unpublished: FinishedRun) -> None:
    publish(unpublished.project, "study")
    record = read(unpublished.places.stage_record("evaluate-stl-pos-s1"))
    record["scores"]["test/pos/accuracy"] = 12.5
    write_json(unpublished.places.stage_record("evaluate-stl-pos-s1"), record)
    unpublished.places.stage_record("train-stl-ner-s2").unlink()
    report = publish(unpublished.project, "study", quick=True)
    assert report.created == []
    assert sorted(report.updated) == ["stl-pos-s1", "stl: ner", "stl: pos"]
    assert report.removed == ["stl-ner-s2"]
    runs = {run.info.run_name: run for run in _runs(unpublished.project)}
    assert len(runs) == len(_runs(unpublished.project)) == MODELS + SEEDS
    assert runs["stl-pos-s1"].data.metrics["test/pos/accuracy"] == 12.5
    parents = {runs[name].data.tags["mlflow.parentRunId"] for name in ("stl-pos-s1", "stl-pos-s2")}
    assert parents == {runs["stl: pos"].info.run_id}


def test_a_run_that_was_cut_short_is_sent_anew(unpublished: FinishedRun) -> None:
    publish(unpublished.project, "study")
    with _client(unpublished.project) as (client, experiment):
        (run,) = [run for run in _runs(unpublished.project) if run.info.run_name == "stl-pos-s1"]
        client.delete_tag(run.info.run_id, "mtlspec.content")
        client.update_run(run.info.run_id, status="RUNNING")
        orphan = client.create_run(experiment, tags={"mtlspec.key": "study/gone", "mtlspec.level": "seed"})
    report = publish(unpublished.project, "study")
    assert report.updated == ["stl-pos-s1"]
    assert len(report.removed) == 1
    runs = _runs(unpublished.project)
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert {run.info.run_id for run in runs}.isdisjoint({run.info.run_id for run in [orphan]})


def test_a_large_checkpoint_is_a_pointer_with_digests(unpublished: FinishedRun) -> None:
    run = unpublished
    raw = run.plan.model_dump(mode="json")
    raw["stages"][-1]["params"]["spec"]["tracking"]["checkpoint_limit_mb"] = 0.0
    write_json(run.places.plan, raw)
    assert publish(run.project, "study").warning is None
    (seed,) = [run_ for run_ in _runs(run.project, "seed") if run_.info.run_name == "stl-pos-s1"]
    folder = run.project.tracking / "artifacts" / "study" / seed.info.run_id / "artifacts" / "model"
    assert [path.name for path in folder.iterdir()] == ["pointer.json"]
    pointer = read(folder / "pointer.json")
    assert pointer["path"] == "registry/runs/study/artifacts/train-stl-pos-s1"
    assert pointer["sha256"] == read(run.places.stage_record("train-stl-pos-s1"))["artifact"]


def test_a_spec_that_never_ran_is_an_error(published: FinishedRun) -> None:
    with pytest.raises(SetupError, match="E621: 'nothing' has not been run"):
        publish(published.project, "nothing")
