"""One at a time: who writes stages or artifacts of a run, or computes them again, does it alone."""

from __future__ import annotations

from contextlib import AbstractContextManager

from mtlspec.io.locks import exclusive
from mtlspec.io.project import Project


def run_alone(project: Project, spec: str) -> AbstractContextManager[None]:
    """Held by a run, by every stage that plain DVC runs, and while stages are written."""
    return exclusive(project.state / f"run-{spec}.lock", f"running {spec}")


def verify_alone(project: Project, spec: str) -> AbstractContextManager[None]:
    return exclusive(project.state / f"verify-{spec}.lock", f"verifying {spec}")
