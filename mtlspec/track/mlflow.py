"""The mirror: MLflow shows what the records say. It never blocks or fails a run, and can be made again at any time."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from mtlspec.errors import SetupError
from mtlspec.io.locks import exclusive
from mtlspec.io.project import Project
from mtlspec.plan.types import Plan
from mtlspec.track.items import Item, items
from mtlspec.track.outbox import Outbox, forget
from mtlspec.track.server import is_local, local_store, local_uri, quiet_client, remake, tracking_uri, unusable
from mtlspec.track.view import VIEW_KEY, view_state

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

T = TypeVar("T")
_METRICS_PER_CALL, _PARAMS_PER_CALL = 899, 100  # MLflow takes 1000 values a call, at most 100 of them parameters
_TEXT_LIMIT = 6000  # characters of a parameter
KEY, CONTENT = "mtlspec.key", "mtlspec.content"


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
    warning: str | None = None

    @property
    def sent(self) -> int:
        return len(self.created) + len(self.updated)


def publish(project: Project, spec_name: str, *, uri: str | None = None, quick: bool = False) -> PublishReport:
    """Mirror one spec's finished stages. `quick` trusts the note that everything was delivered, without asking MLflow.

    Whatever goes wrong on MLflow's side leaves the items in the outbox and a warning in the report.
    """
    places = project.run(spec_name)
    target = uri or tracking_uri(project)
    report = PublishReport(spec_name, target)
    if not places.base.is_dir():
        raise SetupError("E621", f"'{spec_name}' has not been run", places.base, f"`mtlspec run {spec_name}` first")
    plan = Plan.read(places.plan)
    wanted = items(plan, places)
    view = view_state(wanted)
    outbox = Outbox(project, spec_name)
    local, store = is_local(project, target), local_store(project)
    if local and not (store.is_file() and store.stat().st_size):
        forget(project, target)
    problem = unusable(target) if local else None  # a server is not asked if the note will do
    if quick and problem is None and outbox.delivered(target, wanted, view):
        report.unchanged = [item.name for item in wanted]
        return report
    outbox.wait(target, [item.key for item in wanted], "not sent yet")
    problem = problem if local else unusable(target)
    reason, mend = problem, f"`mtlspec publish {spec_name}` sends the rest"
    if reason is None:
        reason = _send(project, plan, wanted, view, report)
        mend += f"; if that fails too, {remake(spec_name)}" if local else ""
    elif local:
        mend = remake(spec_name)
    if reason is None:
        outbox.deliver(target, wanted, view)
        return report
    sent = {*report.created, *report.updated, *report.unchanged}
    report.pending = [item.name for item in wanted if item.name not in sent]
    report.warning = f"MLflow at {_without_password(target)}: {reason}; {mend}"
    outbox.wait(target, [item.key for item in wanted if item.name in report.pending], reason)
    return report


def _send(project: Project, plan: Plan, wanted: Sequence[Item], view: str, report: PublishReport) -> str | None:
    """Everything, or the reason why not."""
    try:
        with exclusive(project.tracking / "publish.lock", "publishing"), quiet_client(report.uri) as client:
            _Mirror(client, project, plan, report).send(wanted, view)
    except SetupError as error:
        return error.message
    except Exception as error:  # MLflow, SQLAlchemy, requests and the file system each have their own
        return _one_line(error)
    return None


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


class _Mirror:
    """One conversation with MLflow about one experiment."""

    def __init__(self, client: MlflowClient, project: Project, plan: Plan, report: PublishReport) -> None:
        self.client, self.project, self.plan, self.report = client, project, plan, report
        self.commit = git_commit(project.root)
        self.experiment = self._experiment()

    def _experiment(self) -> str:
        found = self.client.get_experiment_by_name(self.plan.spec)
        if found is None:
            folder = self.project.tracking / "artifacts" / self.plan.spec
            local = folder.as_uri() if is_local(self.project, self.report.uri) else None
            return str(self.client.create_experiment(self.plan.spec, artifact_location=local))
        if found.lifecycle_stage == "deleted":
            self.client.restore_experiment(found.experiment_id)
        return str(found.experiment_id)

    def send(self, wanted: Sequence[Item], view: str) -> None:
        present = self._present(wanted)
        ids = {key: run.info.run_id for key, run in present.items()}
        now = int(time.time() * 1000)
        for position, item in enumerate(wanted):
            run = present.get(item.key)
            if run is not None and _is_complete(run, item):
                self._adopt(run, item, ids)
                self.report.unchanged.append(item.name)
                continue
            if run is not None:
                self._remove(run)
            # MLflow lists the latest first: later items get earlier times, so that the list has the spec's order.
            ids[item.key] = self._create(item, ids.get(item.parent or ""), now - 1000 * position)
            (self.report.created if run is None else self.report.updated).append(item.name)
        self.client.set_experiment_tag(self.experiment, f"mlflow.sharedViewState.{VIEW_KEY}", view)
        self.client.set_experiment_tag(self.experiment, "mlflow.experimentKind", "custom_model_development")

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
            page = self.client.search_runs([self.experiment], max_results=1000, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    def _adopt(self, run: Run, item: Item, ids: dict[str, str]) -> None:
        """A child whose parent was sent anew moves to the new one."""
        parent = ids.get(item.parent or "")
        if parent is not None and run.data.tags.get("mlflow.parentRunId") != parent:
            self.client.set_tag(run.info.run_id, "mlflow.parentRunId", parent)

    def _remove(self, run: Run) -> None:
        self.client.delete_run(run.info.run_id)
        folder = _local_folder(run.info.artifact_uri)
        if folder is not None and folder.is_relative_to(self.project.tracking):
            shutil.rmtree(folder.parent, ignore_errors=True)

    def _create(self, item: Item, parent: str | None, start: int) -> str:
        tags = {**item.tags, KEY: item.key, "mlflow.source.name": "mtlspec", "mlflow.user": "mtlspec"}
        if parent:
            tags["mlflow.parentRunId"] = parent
        if self.commit:
            tags["mlflow.source.git.commit"] = self.commit
        run = self.client.create_run(self.experiment, start_time=start, tags=tags, run_name=item.name)
        run_id = str(run.info.run_id)
        self._log_datasets(run_id, item)
        self._log_files(run_id, item)
        self._log_values(run_id, item, start)
        # Finished is said last: a run that was cut short is not, and is sent anew the next time.
        self.client.set_terminated(run_id, "FINISHED", end_time=start)
        return run_id

    def _log_values(self, run_id: str, item: Item, time_stamp: int) -> None:
        """In as few calls as MLflow's limits allow: every call costs as much as hundreds of values."""
        from mlflow.entities import Metric, Param, RunTag

        params = list(_chunks([Param(key, text[:_TEXT_LIMIT]) for key, text in item.params.items()], _PARAMS_PER_CALL))
        metrics = list(
            _chunks([Metric(name, x, time_stamp, step) for name, x, step in item.points()], _METRICS_PER_CALL)
        )
        tags = [[RunTag(CONTENT, item.content)]]
        for some_metrics, some_params, some_tags in zip_longest(metrics, params, tags, fillvalue=()):
            self.client.log_batch(run_id, metrics=some_metrics, params=some_params, tags=some_tags)

    def _log_datasets(self, run_id: str, item: Item) -> None:
        from mlflow.entities import Dataset, DatasetInput, InputTag

        inputs = []
        for corpus in item.datasets:
            card = f"registry/data/{corpus.name}.yaml"
            dataset = Dataset(corpus.name, corpus.digest, source_type="mtlspec", source=card)
            inputs.append(DatasetInput(dataset, [InputTag("mlflow.data.context", corpus.splits)]))
        if inputs:
            self.client.log_inputs(run_id, inputs)

    def _log_files(self, run_id: str, item: Item) -> None:
        for path, folder in item.files:
            if path.is_dir():
                self.client.log_artifacts(run_id, str(path), folder or None)
            elif path.is_file():
                self.client.log_artifact(run_id, str(path), folder or None)
        for name, text in (item.texts or {}).items():
            self.client.log_text(run_id, text, name)


def git_commit(root: Path) -> str | None:
    """The commit of the working tree, with `-dirty` if tracked files differ; None outside of git."""
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty", "--match="]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _is_complete(run: Run, item: Item) -> bool:
    return bool(run.info.status == "FINISHED" and run.data.tags.get(CONTENT) == item.content)


def _local_folder(uri: str) -> Path | None:
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _chunks(values: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(values)
    while part := list(islice(iterator, size)):
        yield part


def _without_password(uri: str) -> str:
    return re.sub("//[^/@]*:[^/@]*@", "//", uri)


def experiment_id(project: Project, spec_name: str) -> Any:
    """The id of a spec's experiment in the project's own store, or None."""
    try:
        with quiet_client(local_uri(project)) as client:
            found = client.get_experiment_by_name(spec_name)
    except Exception as error:  # as many sorts as in `_send`
        raise SetupError("E629", _one_line(error), local_store(project), remake(spec_name)) from None
    return None if found is None else found.experiment_id
