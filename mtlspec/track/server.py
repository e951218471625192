"""Where MLflow is: its address, a quick look whether it answers, and a quiet client."""

from __future__ import annotations

import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mtlspec.io.project import Project

if TYPE_CHECKING:
    from mlflow import MlflowClient

_SECONDS = "4"  # for one request; a run is never held up longer than a request and its one repetition
_SETTINGS = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": _SECONDS,
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_DISABLE_SCHEMA_DETAILS": "true",
    "GIT_PYTHON_REFRESH": "quiet",
}


def tracking_uri(project: Project) -> str:
    """`MLFLOW_TRACKING_URI` if it is set, else the database in the project."""
    return os.environ.get("MLFLOW_TRACKING_URI") or local_uri(project)


def local_uri(project: Project) -> str:
    return f"sqlite:///{project.tracking / 'mlflow.db'}"


def is_local(project: Project, uri: str) -> bool:
    return uri == local_uri(project)


def unreachable(uri: str, seconds: float = 2.0) -> str | None:
    """Why a remote server cannot be reached, or None. Only a connection is tried: nothing is imported or sent."""
    parts = urlsplit(uri)
    if parts.scheme not in ("http", "https"):
        return None
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout=seconds):
            return None
    except OSError as error:
        return f"{parts.hostname}:{port} does not answer ({error.strerror or error})"


def configure() -> None:
    """Short timeouts, no telemetry, no chatter; what the user set stays."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    for logger in ("mlflow", "alembic"):
        logging.getLogger(logger).setLevel(logging.ERROR)


@contextmanager
def quiet_client(uri: str) -> Iterator[MlflowClient]:
    """A client whose deprecation warnings about itself do not reach our users."""
    configure()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mlflow import MlflowClient

        configure()  # importing mlflow sets its loggers anew
        yield MlflowClient(tracking_uri=uri)
