"""The MLflow mirror: complete, without duplicates, and never in the way."""

from __future__ import annotations

import json
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mtlspec.errors import SetupError
from mtlspec.io.project import Project
from mtlspec.io.write import write_json
from mtlspec.track.mlflow import publish
from mtlspec.track.outbox import Outbox, waiting
from mtlspec.track.server import local_uri, quiet_client
from mtlspec.track.view import VIEW_KEY
from tests.finished_run import FinishedRun, make_run, read

MODELS, SEEDS = 4, 8  # stl of pos and ner, their pair, all: with two seeds each


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MLflow spends seconds on a new database; one is enough, tests start from copies of it."""
    path = tmp_path_factory.mktemp("store") / "mlflow.db"
    with quiet_client(f"sqlite:///{path}") as client:
        client.search_experiments()
    return path


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Published to a database that publishing made itself."""
    run = make_run(tmp_path_factory.mktemp("published"))
    report = publish(run.project, "study")
    assert report.warning is None
    assert len(report.created) == MODELS + SEEDS + 1
    return run


@pytest.fixture
def copy(published: FinishedRun, empty_store: Path, tmp_path: Path) -> FinishedRun:
    """The same project with a database of its own that was not published to yet."""
    run = published.copy_to(tmp_path / "project")
    run.project.tracking.mkdir()
    shutil.copy(empty_store, run.project.tracking / "mlflow.db")
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


def test_a_model_has_the_mean_std_and_n_of_its_seeds(published: FinishedRun) -> None:
    runs = {run.info.run_name: run for run in _runs(published.project)}
    parent = runs["pair: pos + ner"]
    children = [run for run in runs.values() if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    values = [run.data.metrics["test/ner/f1"] for run in children]
    assert sorted(run.info.run_name for run in children) == ["pair-pos-ner-s1", "pair-pos-ner-s2"]
    assert parent.data.metrics["test/ner/f1"] == pytest.approx(sum(values) / 2, abs=1e-4)
    assert parent.data.metrics["test/ner/f1_std"] == pytest.approx(abs(values[0] - values[1]) / 2**0.5, abs=1e-4)
    assert parent.data.metrics["test/ner/f1_n"] == 2
    assert parent.data.params["train.epochs"] == "3"
    assert "seed" not in parent.data.params
    assert {run.info.status for run in runs.values()} == {"FINISHED"}


def test_the_view_shows_the_main_score_of_every_task(published: FinishedRun) -> None:
    with _client(published.project) as (client, experiment):
        state = json.loads(client.get_experiment(experiment).tags[f"mlflow.sharedViewState.{VIEW_KEY}"])
    assert [column for column in state["selectedColumns"] if "std" not in column] == [
        "metrics.`test/pos/accuracy`",
        "metrics.`test/ner/f1`",
        "metrics.`test/mean`",
        "tags.`mtlspec.seeds`",
    ]


def test_publishing_again_changes_nothing(published: FinishedRun) -> None:
    before = {run.info.run_id for run in _runs(published.project)}
    report = publish(published.project, "study")
    assert (report.sent, report.removed, report.pending) == (0, [], [])
    assert len(report.unchanged) == MODELS + SEEDS + 1
    assert {run.info.run_id for run in _runs(published.project)} == before
    assert waiting(published.project) == ()
    assert len(publish(published.project, "study", quick=True).unchanged) == MODELS + SEEDS + 1


def test_what_changed_is_replaced_and_what_is_gone_is_removed(copy: FinishedRun) -> None:
    publish(copy.project, "study")
    record = read(copy.places.stage_record("evaluate-stl-pos-s1"))
    record["scores"]["test/pos/accuracy"] = 12.5
    write_json(copy.places.stage_record("evaluate-stl-pos-s1"), record)
    copy.places.stage_record("train-stl-ner-s2").unlink()
    report = publish(copy.project, "study", quick=True)
    assert report.created == []
    assert sorted(report.updated) == ["stl-pos-s1", "stl: ner", "stl: pos"]
    assert report.removed == ["stl-ner-s2"]
    runs = {run.info.run_name: run for run in _runs(copy.project)}
    assert len(runs) == len(_runs(copy.project)) == MODELS + SEEDS
    assert runs["stl-pos-s1"].data.metrics["test/pos/accuracy"] == 12.5
    parents = {runs[name].data.tags["mlflow.parentRunId"] for name in ("stl-pos-s1", "stl-pos-s2")}
    assert parents == {runs["stl: pos"].info.run_id}


def test_a_run_that_was_cut_short_is_sent_anew(copy: FinishedRun) -> None:
    publish(copy.project, "study")
    with _client(copy.project) as (client, experiment):
        (run,) = [run for run in _runs(copy.project) if run.info.run_name == "stl-pos-s1"]
        client.delete_tag(run.info.run_id, "mtlspec.content")
        client.update_run(run.info.run_id, status="RUNNING")
        orphan = client.create_run(experiment, tags={"mtlspec.key": "study/gone", "mtlspec.level": "seed"})
    report = publish(copy.project, "study")
    assert report.updated == ["stl-pos-s1"]
    assert len(report.removed) == 1
    runs = _runs(copy.project)
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert {run.info.run_id for run in runs}.isdisjoint({run.info.run_id for run in [orphan]})


def test_a_large_checkpoint_is_a_pointer_with_digests(copy: FinishedRun) -> None:
    run = copy
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


def test_a_refused_connection_leaves_everything_pending_then_it_is_delivered(copy: FinishedRun) -> None:
    with socket.socket() as closed:  # bound, not listening: connections are refused
        closed.bind(("127.0.0.1", 0))
        report = publish(copy.project, "study", uri=f"http://127.0.0.1:{closed.getsockname()[1]}")
    assert report.sent == 0
    assert len(report.pending) == MODELS + SEEDS + 1
    assert "does not answer" in (report.warning or "")
    assert waiting(copy.project) == ("study",)
    assert len(Outbox(copy.project, "study").pending()) == MODELS + SEEDS + 1
    delivered = publish(copy.project, "study", uri=local_uri(copy.project))
    assert len(delivered.created) == MODELS + SEEDS + 1
    assert waiting(copy.project) == ()


def test_a_server_that_accepts_and_never_answers_does_not_hold_us_up(
    copy: FinishedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        finished: list[Any] = []
        worker = threading.Thread(target=lambda: finished.append(publish(copy.project, "study", uri=uri)), daemon=True)
        started = time.monotonic()
        worker.start()
        worker.join(60)  # not a limit on speed: without the short timeout this lasts twenty minutes
        assert finished, f"still waiting after {time.monotonic() - started:.0f} s"
    assert len(finished[0].pending) == MODELS + SEEDS + 1
    assert waiting(copy.project) == ("study",)


def test_a_spec_that_never_ran_is_an_error(published: FinishedRun) -> None:
    with pytest.raises(SetupError, match="E621: 'nothing' has not been run"):
        publish(published.project, "nothing")
