"""A conversation with MLflow: whether it can be had at all, who has it, and what is said of one that failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mtlspec.io.disk import is_full
from mtlspec.io.locks import exclusive
from mtlspec.io.project import Project
from mtlspec.io.secrets import without_secrets
from mtlspec.track.patience import OutOfPatienceError, Patience
from mtlspec.track.server import is_local, local_store, quiet_client, unusable
from mtlspec.track.store import make_whole

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from mtlspec.track.mirror import PublishReport

_LOOK_SECONDS = 5.0  # for a first look at a server: its name is looked up and a connection is made


def trouble(project: Project, target: str) -> str | None:
    """Why MLflow cannot be used, or None; not even looking up a server's name may take long."""
    if is_local(project, target):
        return unusable(target)
    found: list[str | None] = []
    try:
        Patience(_LOOK_SECONDS).run(lambda: found.append(unusable(target)))
    except OutOfPatienceError as error:
        return str(error)
    return None if found[0] is None else without_secrets(found[0], target)


@contextmanager
def conversation(project: Project, target: str, report: PublishReport | None = None) -> Iterator[MlflowClient]:
    """A client, for one process at a time; the project's own store is made first where there is none that is whole."""
    with exclusive(project.tracking / "publish.lock", "publishing"):
        if is_local(project, target):
            aside = make_whole(local_store(project))
            if aside is not None and report is not None:
                report.aside = project.relative(aside)
        with quiet_client(target) as client:
            yield client


def one_line(error: Exception, target: str) -> str:
    if is_full(error):
        return "the disk is full"
    return " ".join(without_secrets(f"{type(error).__name__}: {error}", target).split())[:300]
