"""The MLflow mirror: complete, without duplicates, and never in the way."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from mtlspec.errors import SetupError
from mtlspec.io.project import Project
from mtlspec.io.write import write_json
from mtlspec.plan.types import Plan
from mtlspec.track.items import items
from mtlspec.track.mlflow import publish
from mtlspec.track.outbox import Outbox, waiting
from mtlspec.track.record import write_record
from mtlspec.track.server import experiment_id, local_store, local_uri, quiet_client, unusable
from mtlspec.track.view import VIEW_KEY, experiment_tags
from tests.finished_run import FinishedRun, make_run, read

MODELS, SEEDS = 4, 8  # stl of pos and ner, their pair, all: with two seeds each
MEND = (
    "give registry/mlflow/mlflow.db another name, and `mtlspec publish study` makes a new store from the records; "
    "only what was added in MLflow by hand or by other programs is in no record"
)


def _tear(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.executescript("CREATE TABLE a (x); INSERT INTO a VALUES (randomblob(90000)); CREATE TABLE b (x)")
    path.write_bytes(path.read_bytes()[:512] + bytes(4000))


BROKEN: dict[str, Callable[[Path], object]] = {
    "a folder stands in place of the file": Path.mkdir,
    "file is not a database": lambda path: path.write_text("garbage\n"),
    "database disk image is malformed": _tear,
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    """Published to a database that publishing made itself."""
    run = make_run(tmp_path_factory.mktemp("published"))
    write_record(run.plan, run.places)
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


def test_a_model_with_one_seed_is_not_called_a_mean(copy: FinishedRun) -> None:
    copy.places.stage_record("train-stl-ner-s2").unlink()
    notes = {item.name: item.tags.get("mlflow.note.content", "") for item in items(copy.plan, copy.places)}
    one = "Scores of its one seed, 1, which is the child run. The duration is its computing time."
    assert notes["stl: ner"] == one
    assert notes["stl: pos"].startswith("Means over the seeds 1, 2, which are the child runs;")


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


def test_runs_have_their_real_times_and_the_order_of_the_spec(copy: FinishedRun) -> None:
    for number, seconds in ((1, 100.25), (2, 20.5)):
        timing = copy.places.timing(f"train-pair-pos-ner-s{number}")
        write_json(timing, {"seconds": seconds})
        os.utime(timing, (1e9, 1e9 + number))
    copy.places.timing("train-stl-pos-s1").unlink()  # restored from the cache, as its evaluation was
    copy.places.timing("evaluate-stl-pos-s1").write_text("torn")
    publish(copy.project, "study")
    runs = {run.info.run_name: run for run in _runs(copy.project)}
    times = {name: (run.info.start_time, run.info.end_time - run.info.start_time) for name, run in runs.items()}
    assert times["pair-pos-ner-s1"] == (int((1e9 + 1 - 100.25) * 1000), 101_750)  # 1.5 s are its evaluation's
    assert times["pair-pos-ner-s2"] == (int((1e9 + 2 - 20.5) * 1000), 22_000)
    assert times["pair: pos + ner"] == (times["pair-pos-ner-s1"][0], 22_000 + 101_750)
    assert times["stl-pos-s1"][1] == 0
    ordered = sorted(runs.values(), key=lambda run: run.data.tags["mtlspec.order"])
    assert [run.info.run_name for run in ordered] == [item.name for item in items(copy.plan, copy.places)]


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


def test_a_spec_that_never_ran_is_an_error(published: FinishedRun) -> None:
    with pytest.raises(SetupError, match="E621: 'nothing' has not been run"):
        publish(published.project, "nothing")


@pytest.mark.parametrize("problem", BROKEN)
def test_a_broken_store_leaves_everything_pending_and_is_said_to_be_broken(
    problem: str, copy: FinishedRun, empty_store: Path
) -> None:
    wanted, store = items(copy.plan, copy.places), local_store(copy.project)
    Outbox(copy.project, "study").deliver(local_uri(copy.project), wanted, experiment_tags(copy.plan, wanted))
    store.unlink()
    BROKEN[problem](store)
    for quick in (True, False, True):
        report = publish(copy.project, "study", quick=quick)
        assert (report.sent, report.unchanged) == (0, [])
        assert len(report.pending) == MODELS + SEEDS + 1
        assert report.warning == f"MLflow at {local_uri(copy.project)}: {problem}; {MEND}"
    assert waiting(copy.project) == ("study",)
    store.rename(store.with_name("old"))
    shutil.copy(empty_store, store)
    assert len(publish(copy.project, "study", quick=True).created) == MODELS + SEEDS + 1
    assert waiting(copy.project) == ()


def test_a_note_of_delivery_ends_with_the_store(copy: FinishedRun) -> None:
    other, uri, store = Outbox(copy.project, "other"), local_uri(copy.project), local_store(copy.project)
    other.deliver(uri, (), {})
    store.unlink()
    store.mkdir()
    publish(copy.project, "study")
    assert not other.delivered(uri, (), {})


def test_a_store_that_cannot_be_opened_is_not_tried_for_minutes(tmp_path: Path) -> None:
    failed: list[Exception] = []

    def opening() -> None:
        try:
            with quiet_client(f"sqlite:///{tmp_path}") as client:
                client.search_experiments()
        except Exception as error:
            failed.append(error)

    worker = threading.Thread(target=opening, daemon=True)
    worker.start()
    worker.join(60)  # not a limit on speed: MLflow alone sleeps a hundred seconds
    assert "unable to open database file" in str(failed)


def test_a_store_of_another_mlflow_is_one_clear_line(copy: FinishedRun) -> None:
    with closing(sqlite3.connect(local_store(copy.project))) as store:
        store.execute("UPDATE alembic_version SET version_num = 'other'")
        store.execute("ALTER TABLE experiments RENAME COLUMN name TO title")
        store.commit()
    with pytest.raises(SetupError, match=f"E629: MLflow's store: no such column: name; {MEND}"):
        experiment_id(copy.project, "study")
    warning = publish(copy.project, "study").warning or ""
    assert "out-of-date database schema" in warning
    assert f"sends the rest; if that fails too, {MEND}" in warning


@pytest.mark.parametrize("uri", ["http://host:port", "http://[::1", "https://" + "x" * 70])
def test_a_bad_address_is_a_reason(uri: str, copy: FinishedRun) -> None:
    report = publish(copy.project, "study", uri=uri)
    assert len(report.pending) == MODELS + SEEDS + 1
    assert "not an address" in (report.warning or "") or "does not answer" in (report.warning or "")


def test_a_dead_database_server_is_found_out_by_its_port_and_passwords_are_not_told(copy: FinishedRun) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{closed.getsockname()[1]}"
        report = publish(copy.project, "study", uri=f"postgresql+psycopg2://me:secret@{place}/db")
    assert (report.warning or "").startswith(f"MLflow at postgresql+psycopg2://{place}/db: {place} does not answer")


def test_a_store_that_is_not_there_yet_can_be_made_if_its_folders_can(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert unusable(f"sqlite:///{tmp_path}/new/folder/mlflow.db") is None
    assert unusable(f"sqlite:///{tmp_path}/file/mlflow.db") == f"{tmp_path}/file is not a folder"
    (tmp_path / "empty.db").touch()
    assert unusable(f"sqlite:///{tmp_path}/empty.db") is None


def test_a_store_in_use_is_not_broken(copy: FinishedRun) -> None:
    with closing(sqlite3.connect(local_store(copy.project), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert unusable(local_uri(copy.project)) is None


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
