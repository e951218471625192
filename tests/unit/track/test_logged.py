"""Exported models on the runs of their trainings: once, found again, freed and filled, whatever the server does."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from mtlspec.errors import SetupError
from mtlspec.io.digest import digest_value
from mtlspec.io.locks import exclusive
from mtlspec.io.manifest import write_manifest
from mtlspec.io.project import Project
from mtlspec.io.write import write_json
from mtlspec.track.copies import POINTER, copies, free_copies
from mtlspec.track.items import items
from mtlspec.track.logged import Logged, log_export
from mtlspec.track.mlflow import publish
from mtlspec.track.outbox import Outbox
from mtlspec.track.server import local_uri, quiet_client
from mtlspec.track.view import experiment_tags
from mtlspec.track.webserver import serving
from tests.finished_run import FinishedRun, read
from tests.odd_servers import drip, odd_server, refuse, stay_silent

MODEL = "mtl-all-s2"


@pytest.fixture
def export(unpublished: FinishedRun, tmp_path: Path) -> Path:
    """A folder like an exported model's, of the training of `MODEL`."""
    folder = tmp_path / "exported"
    (folder / "encoder").mkdir(parents=True)
    for name in ("decoders.safetensors", "encoder/model.safetensors", "MLmodel"):
        (folder / name).write_bytes(name.encode() * 100)
    trained = read(unpublished.places.stage_record(f"train-{MODEL}"))["artifact"]
    write_json(folder / "mtlspec.json", {"format": 1, "name": f"study/{MODEL}", "trained": digest_value(trained)})
    write_manifest(folder)
    return folder


@contextmanager
def _client(project: Project) -> Iterator[Any]:
    with quiet_client(local_uri(project)) as client:
        yield client


def _models(project: Project) -> list[Any]:
    with _client(project) as client:
        return list(client.search_logged_models([client.get_experiment_by_name("study").experiment_id]))


def _run(project: Project, name: str = MODEL) -> Any:
    with _client(project) as client:
        runs = client.search_runs([client.get_experiment_by_name("study").experiment_id])
        return next(run for run in runs if run.info.run_name == name)


def _artifacts(project: Project) -> Path:
    (folder,) = (project.tracking / "artifacts/study/models").glob("*/artifacts")
    return folder


def _content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_model_is_on_the_run_of_its_training_and_logged_once(unpublished: FinishedRun, export: Path) -> None:
    project = unpublished.project
    first = log_export(project, "study", MODEL, export)  # publishes what MLflow does not have yet
    run, (model,) = _run(project), _models(project)
    assert first == Logged(
        f"models:/{model.model_id}", f"runs:/{run.info.run_id}/{MODEL}", "registry/mlflow/mlflow.db", True, True
    )
    assert (model.source_run_id, model.status, model.name) == (run.info.run_id, "READY", MODEL)
    assert [output.model_id for output in run.outputs.model_outputs] == [model.model_id]
    assert _content(_artifacts(project)) == _content(export)
    again = log_export(project, "study", MODEL, export)
    assert again == Logged(first.model, first.run, first.place, first.local, False)
    assert len(_models(project)) == len(_run(project).outputs.model_outputs) == 1
    part = log_export(project, "study", MODEL, _other(export), "p.o/s")
    assert part.new and part.run.endswith(f"/{MODEL}-p_o_s") and len(_models(project)) == 2


def _other(export: Path) -> Path:
    folder = export.with_name("other")
    shutil.copytree(export, folder)
    (folder / "README.md").write_text("of one task")
    write_manifest(folder)
    return folder


def test_what_was_cut_short_goes_on_where_it_was(
    unpublished: FinishedRun, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow import MlflowClient

    sent: list[str] = []
    real = MlflowClient.log_model_artifact

    def failing(self: Any, model: str, path: str, place: str | None = None) -> None:
        if len(sent) == 2:
            raise OSError("the line is cut")
        sent.append(path)
        real(self, model, path, place)

    with monkeypatch.context() as cut:
        cut.setattr(MlflowClient, "log_model_artifact", failing)
        with pytest.raises(SetupError, match=r"E643: not logged: MLflow at .*OSError: the line is cut"):
            log_export(unpublished.project, "study", MODEL, export)
    assert [model.status for model in _models(unpublished.project)] == ["PENDING"]
    assert log_export(unpublished.project, "study", MODEL, export).new
    assert [model.status for model in _models(unpublished.project)] == ["READY"]
    assert _content(_artifacts(unpublished.project)) == _content(export)


def test_freed_models_say_so_and_are_filled_again(unpublished: FinishedRun, export: Path) -> None:
    project = unpublished.project
    first = log_export(project, "study", MODEL, export)
    record = read(unpublished.places.stage_record(f"train-{MODEL}"))["artifact"]
    logged = [path for path in copies(project, "study") if "models" in path.parts]
    assert sorted(path.name for path in logged) == ["decoders.safetensors", "model.safetensors"]
    size = sum(path.stat().st_size for path in logged)
    other = {"train-stl-pos-s1": read(unpublished.places.stage_record("train-stl-pos-s1"))["artifact"]}
    mirrored = sum(path.stat().st_size for path in copies(project, "study")) - size
    assert free_copies(project, "study", other) < mirrored and all(path.exists() for path in logged)
    weights = _run(project).info.artifact_uri
    assert weights.startswith("file:")

    freed = free_copies(project, "study", {f"train-{MODEL}": record})
    assert freed >= size and not any(path.exists() for path in logged)
    pointer = json.loads((_artifacts(project) / POINTER).read_bytes())
    assert pointer == {"path": f"registry/runs/study/artifacts/train-{MODEL}", "sha256": record}
    assert free_copies(project, "study", {f"train-{MODEL}": record}) == 0

    again = log_export(project, "study", MODEL, export)
    assert (again.model, again.new) == (first.model, True)
    assert _content(_artifacts(project)) == _content(export)


def test_a_run_that_is_sent_anew_names_the_models_of_the_same_training(unpublished: FinishedRun, export: Path) -> None:
    """A score that changed sends a run anew; another training is another model."""
    project, places = unpublished.project, unpublished.places
    first = log_export(project, "study", MODEL, export)
    record = read(places.stage_record(f"evaluate-{MODEL}"))
    record["scores"]["test/pos/accuracy"] += 0.5
    write_json(places.stage_record(f"evaluate-{MODEL}"), record)
    before = _run(project).info.run_id
    assert MODEL in publish(project, "study").updated
    run = _run(project)
    assert run.info.run_id != before
    assert [f"models:/{output.model_id}" for output in run.outputs.model_outputs] == [first.model]
    again = log_export(project, "study", MODEL, export)
    assert again.new and again.run.startswith(f"runs:/{run.info.run_id}/")
    assert {f"models:/{model.model_id}" for model in _models(project)} == {first.model, again.model}


def test_a_run_that_somebody_removed_is_published_before_it_gets_its_model(
    unpublished: FinishedRun, export: Path
) -> None:
    assert publish(unpublished.project, "study").warning is None
    with _client(unpublished.project) as client:
        client.delete_run(_run(unpublished.project).info.run_id)
    assert log_export(unpublished.project, "study", MODEL, export).new
    assert _models(unpublished.project)[0].source_run_id == _run(unpublished.project).info.run_id


def test_a_model_that_was_not_evaluated_has_no_run(unpublished: FinishedRun, export: Path) -> None:
    with pytest.raises(SetupError, match="E644: not logged: MLflow has no run of 'study/stl-dep-s1'; is it run"):
        log_export(unpublished.project, "study", "stl-dep-s1", export)


SECRET = "Sesame4711"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "401"),
        (refuse(500), "500"),
        (drip, "no full answer within"),
        (stay_silent, "ReadTimeoutError|no full answer"),
    ],
    ids=["quoting", "broken", "dripping", "silent"],
)
@pytest.mark.parametrize("delivered", [True, False])
def test_a_server_that_fails_is_one_line_without_secrets(
    answer: Any, told: str, delivered: bool, unpublished: FinishedRun, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounded in time, too, or this would never end. `delivered`: only the model is to be sent."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with odd_server(answer) as server:
        uri = f"http://annabelle:{SECRET}@{server.place}"
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        if delivered:
            wanted = items(unpublished.plan, unpublished.places)
            Outbox(unpublished.project, "study").deliver(uri, wanted, experiment_tags(unpublished.plan, wanted))
        with pytest.raises(SetupError, match=rf"E64[13]: not logged: MLflow at http://{server.place}: .*({told})") as e:
            log_export(unpublished.project, "study", MODEL, export)
    assert server.asked and "\n" not in str(e.value)
    assert SECRET not in str(e.value) and "annabelle" not in str(e.value)


def test_while_another_process_publishes_nobody_is_told_to_make_a_new_store(
    unpublished: FinishedRun, export: Path
) -> None:
    told = r"another process is publishing; `mtlspec publish study` sends the rest$"
    lock = unpublished.project.tracking / "publish.lock"
    with exclusive(lock, "publishing"), pytest.raises(SetupError, match=told):
        log_export(unpublished.project, "study", MODEL, export)


@pytest.mark.slow
def test_at_a_server_of_mlflow(
    unpublished: FinishedRun, empty_store: Path, export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = Project(tmp_path / "theirs")
    theirs.tracking.mkdir(parents=True)
    shutil.copy(empty_store, theirs.tracking / "mlflow.db")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{port}")
    with serving(theirs, "127.0.0.1", port):
        first = log_export(unpublished.project, "study", MODEL, export)
        assert (first.place, first.local, first.new) == (f"http://127.0.0.1:{port}", False, True)
        assert log_export(unpublished.project, "study", MODEL, export) == Logged(*astuple(first)[:-1], new=False)
        with quiet_client(f"http://127.0.0.1:{port}") as client:
            import mlflow

            model = client.get_logged_model(first.model.removeprefix("models:/"))
            fetched = mlflow.artifacts.download_artifacts(
                artifact_uri=first.model, dst_path=str(tmp_path / "fetched"), tracking_uri=client.tracking_uri
            )
    assert model.status == "READY" and first.run == f"runs:/{model.source_run_id}/{MODEL}"
    assert {name: data for name, data in _content(Path(fetched)).items() if name in _content(export)} == _content(
        export
    )
    assert not list(copies(unpublished.project, "study"))
