"""One conversation with MLflow about one experiment: what is there, what is missing, what is no longer wanted."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit

from mtlspec.io.project import Project
from mtlspec.plan.types import Plan
from mtlspec.track.items import CONTENT, KEY, Item
from mtlspec.track.models import link, models_of
from mtlspec.track.patience import Patience
from mtlspec.track.view import ORDER

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

T = TypeVar("T")
_METRICS_PER_CALL, _PARAMS_PER_CALL = 899, 100  # MLflow takes 1000 values a call, at most 100 of them parameters
_RUNS_PER_CALL = 200
_TEXT_LIMIT = 6000  # characters of a parameter
_BYTES_PER_SECOND = 100_000  # the slowest line that a file is given time for


@dataclass
class PublishReport:
    """What happened to every item, by name; `warning` says why some are pending."""

    spec: str
    uri: str
    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    answered: bool = False  # MLflow did, at least once, and did not fall silent
    busy: bool = False  # another process was publishing
    warning: str | None = None
    aside: str | None = None  # where the project's store is now, if it was half migrated and a new one was made

    @property
    def sent(self) -> int:
        return len(self.created) + len(self.updated)


class Mirror:
    """Every question to MLflow is a step for our patience: one that is not answered ends the conversation."""

    def __init__(
        self, client: MlflowClient, project: Project, plan: Plan, report: PublishReport, patience: Patience, local: bool
    ) -> None:
        self.client, self.project, self.plan, self.report = client, project, plan, report
        self.patience, self.local = patience, local
        self.commit = git_commit(project.root)
        self.experiment = ""

    def _find_experiment(self) -> str:
        self.patience.step()
        found = self.client.get_experiment_by_name(self.plan.spec)
        self.report.answered = True
        self.patience.step()
        if found is None:
            folder = self.project.tracking / "artifacts" / self.plan.spec
            location = folder.as_uri() if self.local else None
            return str(self.client.create_experiment(self.plan.spec, artifact_location=location))
        if found.lifecycle_stage == "deleted":
            self.client.restore_experiment(found.experiment_id)
        return str(found.experiment_id)

    def send(self, wanted: Sequence[Item], tags: Mapping[str, str]) -> None:
        self.experiment = self._find_experiment()
        present = self._present(wanted)
        ids = {key: run.info.run_id for key, run in present.items()}
        for position, item in enumerate(wanted):
            order = f"{position:05d}"
            run = present.get(item.key)
            if run is not None and _is_complete(run, item):
                self._adopt(run, ids.get(item.parent or ""), order)
                self.report.unchanged.append(item.name)
                continue
            if run is not None:
                self._remove(run)
            ids[item.key] = self._create(item, ids.get(item.parent or ""), order)
            if run is not None and item.level == "seed":
                self._link(ids[item.key], item)
            (self.report.created if run is None else self.report.updated).append(item.name)
        for name, value in tags.items():
            self.patience.step()
            self.client.set_experiment_tag(self.experiment, name, value)

    def _present(self, wanted: Sequence[Item]) -> dict[str, Run]:
        """Our runs by key; those that no item wants any more are removed, however they ended."""
        keys = {item.key for item in wanted}
        found: dict[str, Run] = {}
        for run in self._runs():
            key = run.data.tags.get(KEY)
            if key is None:
                continue
            if key not in keys or key in found:
                self._remove(run)
                self.report.removed.append(run.info.run_name or key)
            else:
                found[key] = run
        return found

    def _runs(self) -> Iterator[Run]:
        token = None
        while True:
            self.patience.step()
            page = self.client.search_runs([self.experiment], max_results=_RUNS_PER_CALL, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def _adopt(self, run: Run, parent: str | None, order: str) -> None:
        """A child whose parent was sent anew moves to the new one; what stands elsewhere in the spec now, too."""
        wanted = {ORDER: order} | ({"mlflow.parentRunId": parent} if parent is not None else {})
        for name, value in wanted.items():
            if run.data.tags.get(name) != value:
                self.patience.step()
                self.client.set_tag(run.info.run_id, name, value)

    def _remove(self, run: Run) -> None:
        self.patience.step()
        self.client.delete_run(run.info.run_id)
        folder = local_folder(run.info.artifact_uri)
        if folder is not None and folder.is_relative_to(self.project.tracking):
            shutil.rmtree(folder.parent, ignore_errors=True)

    def _create(self, item: Item, parent: str | None, order: str) -> str:
        began, seconds = (item.span.began, item.span.seconds) if item.span is not None else (time.time(), 0.0)
        start = int(began * 1000)
        tags = {**item.tags, KEY: item.key, ORDER: order, "mlflow.source.name": "mtlspec", "mlflow.user": "mtlspec"}
        if parent:
            tags["mlflow.parentRunId"] = parent
        if self.commit:
            tags["mlflow.source.git.commit"] = self.commit
        self.patience.step()
        run = self.client.create_run(self.experiment, start_time=start, tags=tags, run_name=item.name)
        run_id = str(run.info.run_id)
        self._log_datasets(run_id, item)
        self._log_files(run_id, item)
        self._log_values(run_id, item, start)
        # Finished is said last: a run that was cut short is not, and is sent anew the next time.
        self.patience.step()
        self.client.set_terminated(run_id, "FINISHED", end_time=start + round(seconds * 1000))
        return run_id

    def _link(self, run_id: str, item: Item) -> None:
        """A run that was sent anew names the models that people logged of its training, if that is the same."""
        models = models_of(self.client, self.patience, self.experiment, {**item.tags, KEY: item.key})
        if models:
            self.patience.step()
            run = self.client.get_run(run_id)
            for model in models:
                link(self.client, self.patience, run, model)

    def _log_values(self, run_id: str, item: Item, time_stamp: int) -> None:
        """In as few calls as MLflow's limits allow: every call costs as much as hundreds of values."""
        from mlflow.entities import Metric, Param, RunTag

        params = list(_chunks([Param(key, text[:_TEXT_LIMIT]) for key, text in item.params.items()], _PARAMS_PER_CALL))
        metrics = list(
            _chunks([Metric(name, x, time_stamp, step) for name, x, step in item.points()], _METRICS_PER_CALL)
        )
        tags = [[RunTag(CONTENT, item.content)]]
        for some_metrics, some_params, some_tags in zip_longest(metrics, params, tags, fillvalue=()):
            self.patience.step()
            self.client.log_batch(run_id, metrics=some_metrics, params=some_params, tags=some_tags)

    def _log_datasets(self, run_id: str, item: Item) -> None:
        from mlflow.entities import Dataset, DatasetInput, InputTag

        inputs = []
        for corpus in item.datasets:
            card = f"registry/data/{corpus.name}.yaml"
            dataset = Dataset(corpus.name, corpus.digest, source_type="mtlspec", source=card)
            inputs.append(DatasetInput(dataset, [InputTag("mlflow.data.context", corpus.splits)]))
        if inputs:
            self.patience.step()
            self.client.log_inputs(run_id, inputs)

    def _log_files(self, run_id: str, item: Item) -> None:
        """One by one: a folder of many files is no reason to lose patience."""
        for path, folder in item.files:
            for file, place in files_below(path, folder):
                self.patience.step(further=seconds_for(file))
                self.client.log_artifact(run_id, str(file), place or None)
        for name, text in (item.texts or {}).items():
            self.patience.step(further=len(text) / _BYTES_PER_SECOND)
            self.client.log_text(run_id, text, name)


def git_commit(root: Path) -> str | None:
    """The commit of the working tree, with `-dirty` if tracked files differ; None outside of git."""
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--match="]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def files_below(path: Path, folder: str) -> Iterator[tuple[Path, str]]:
    """A file, or all below a folder, each with the folder of the run where it goes."""
    if path.is_file():
        yield path, folder
    for file in sorted(path.rglob("*")) if path.is_dir() else ():
        if file.is_file():
            place = (PurePosixPath(folder) / file.parent.relative_to(path).as_posix()).as_posix()
            yield file, "" if place == "." else place


def _is_complete(run: Run, item: Item) -> bool:
    return bool(run.info.status == "FINISHED" and run.data.tags.get(CONTENT) == item.content)


def seconds_for(file: Path) -> float:
    """How long a file may take on a slow line."""
    return file.stat().st_size / _BYTES_PER_SECOND


def local_folder(uri: str) -> Path | None:
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _chunks(values: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(values)
    while part := list(islice(iterator, size)):
        yield part
