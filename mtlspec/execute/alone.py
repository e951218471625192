"""One at a time: who writes stages or artifacts of a run, or computes them again, does it alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from mtlspec.errors import SetupError
from mtlspec.io.locks import exclusive
from mtlspec.io.project import Project


def run_alone(project: Project, spec: str) -> AbstractContextManager[None]:
    """Held by a run, by every stage that plain DVC runs, and while stages are written."""
    return exclusive(project.state / f"run-{spec}.lock", f"running {spec}")


def verify_alone(project: Project, spec: str) -> AbstractContextManager[None]:
    return exclusive(project.state / f"verify-{spec}.lock", f"verifying {spec}")


@contextmanager
def dvc_alone(project: Project) -> Iterator[None]:
    """Held while DVC's cache is changed: no DVC command looks at it meanwhile."""
    from dvc.lock import LockError, make_lock

    folder = project.root / ".dvc" / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with make_lock(str(folder / "lock"), tmp_dir=str(folder)):
            yield
    except LockError as error:
        holder = " ".join(str(error).split())
        raise SetupError("E692", f"another DVC command is running: {holder}", None, "wait for it") from None
