"""The mirror: MLflow shows what the records say. It never blocks or fails a run, and can be made again at any time."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from mtlspec.errors import MtlspecError, SetupError
from mtlspec.io.project import Project
from mtlspec.io.secrets import clean_address
from mtlspec.plan.types import Plan
from mtlspec.track.conversation import conversation, one_line, trouble
from mtlspec.track.items import Item, items
from mtlspec.track.mirror import Mirror, PublishReport
from mtlspec.track.outbox import Outbox, forget
from mtlspec.track.patience import OutOfPatienceError, Patience
from mtlspec.track.server import (
    answer_seconds,
    is_local,
    local_store,
    remake,
    shown_address,
    tracking_uri,
    unusable,
)
from mtlspec.track.store import is_half_migrated, is_unfinished
from mtlspec.track.view import experiment_tags


def publish(
    project: Project, spec_name: str, *, uri: str | None = None, quick: bool = False, dead: str | None = None
) -> PublishReport:
    """Mirror one spec's finished stages. `quick` trusts the note that everything was delivered, without asking MLflow.

    Whatever goes wrong on MLflow's side leaves the items in the outbox and a warning in the report. `dead` says why
    MLflow need not be asked at all.
    """
    places = project.run(spec_name)
    target = uri or tracking_uri(project)
    report = PublishReport(spec_name, clean_address(target))
    if not places.base.is_dir():
        raise SetupError("E621", f"'{spec_name}' has not been run", places.base, f"`mtlspec run {spec_name}` first")
    plan = Plan.read(places.plan)
    wanted = items(plan, places)
    tags = experiment_tags(plan, wanted)
    outbox = Outbox(project, spec_name)
    local, store = is_local(project, target), local_store(project)
    if local and (not store.is_file() or is_unfinished(store) or is_half_migrated(store)):
        forget(project, target)
    problem = unusable(target) if local else None  # a server is not asked if the note will do
    if quick and problem is None and outbox.delivered(target, wanted, tags):
        report.unchanged = [item.name for item in wanted]
        return report
    outbox.wait(target, [item.key for item in wanted], "not sent yet")
    problem = dead or (problem if local else trouble(project, target))
    reason, mend = problem, f"`mtlspec publish {spec_name}` sends the rest"
    if reason is None:
        reason = _send(project, plan, target, wanted, tags, report)
        mend += f"; if that fails too, {remake(project)}" if local and not report.busy else ""
    elif local:
        mend = remake(project)
    if reason is None:
        outbox.deliver(target, wanted, tags)
        return report
    sent = {*report.created, *report.updated, *report.unchanged}
    report.pending = [item.name for item in wanted if item.name not in sent]
    report.warning = f"MLflow at {report.uri}: {reason}; {mend}"
    outbox.wait(target, [item.key for item in wanted if item.name in report.pending], reason)
    return report


def publish_all(
    project: Project, names: Sequence[str], *, uri: str | None = None, quick: bool = False
) -> tuple[list[PublishReport], list[MtlspecError]]:
    """What is wrong with one run keeps no other from being sent, but a server that is dead is waited for only once."""
    reports: list[PublishReport] = []
    problems: list[MtlspecError] = []
    dead = None
    for name in names:
        try:
            reports.append(publish(project, name, uri=uri, quick=quick, dead=dead))
        except MtlspecError as error:
            problems.append(error)
            continue
        if reports[-1].pending and not reports[-1].answered:
            dead = f"not asked again after it took nothing of {name}"
    return reports, problems


def unpublish(project: Project, spec_name: str) -> str | None:
    """Take a spec's experiment out of MLflow, where this project put one; what happened, or None if there was none.

    MLflow keeps deleted experiments for a while. The name is free at once: whoever publishes again begins anew.
    """
    outbox, target = Outbox(project, spec_name), tracking_uri(project)
    noted, again = outbox.address(), f"`mtlspec registry remove {spec_name}` tries again"
    if noted is None:
        return None
    place = shown_address(project, noted)
    outbox.abandon()
    if noted != clean_address(target):
        if is_local(project, noted):
            return f"still in MLflow at {place}: unset MLFLOW_TRACKING_URI, and {again}"
        return f"still in MLflow at {noted}: set MLFLOW_TRACKING_URI to it, and {again}"
    found: list[str] = []
    local = is_local(project, target)
    reason = trouble(project, target)
    if reason is None and not (local and is_unfinished(local_store(project))):
        reason = _remove(project, target, spec_name, found)
    if reason is not None:
        return f"still in MLflow at {place}: {reason}; {again}"
    outbox.clear()
    return f"removed the experiment '{spec_name}' ({found[0]}) from MLflow at {place}" if found else None


def _remove(project: Project, target: str, spec_name: str, found: list[str]) -> str | None:
    """The id of the experiment goes to `found`; the reason if it could not be removed."""

    def delete() -> None:
        experiment = client.get_experiment_by_name(spec_name)
        if experiment is None or experiment.lifecycle_stage == "deleted":
            return
        number = str(experiment.experiment_id)
        patience.step()
        client.rename_experiment(number, f"{spec_name} (removed {number})")
        patience.step()
        client.delete_experiment(number)
        found.append(number)

    try:
        with conversation(project, target) as client:
            patience = Patience(answer_seconds(target))
            patience.run(delete)
    except SetupError as error:
        return error.message
    except Exception as error:  # as many sorts as in `_send`
        return one_line(error, target)
    if is_local(project, target):
        shutil.rmtree(project.tracking / "artifacts" / spec_name, ignore_errors=True)
    return None


def _send(
    project: Project, plan: Plan, target: str, wanted: Sequence[Item], tags: Mapping[str, str], report: PublishReport
) -> str | None:
    """Everything, or the reason why not."""
    try:
        with conversation(project, target, report) as client:
            patience = Patience(answer_seconds(target))
            mirror = Mirror(client, project, plan, report, patience, is_local(project, target))
            patience.run(lambda: mirror.send(wanted, tags))
    except SetupError as error:
        report.busy = True
        return error.message
    except OutOfPatienceError as error:
        report.answered = False
        return str(error)
    except Exception as error:  # MLflow, SQLAlchemy, requests and the file system each have their own
        return one_line(error, target)
    return None
