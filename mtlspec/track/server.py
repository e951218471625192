"""Where MLflow is: its address, a quick look whether it can be used, and a quiet client."""

from __future__ import annotations

import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mtlspec.errors import SetupError
from mtlspec.io.project import Project
from mtlspec.track.registry import run_names

if TYPE_CHECKING:
    from mlflow import MlflowClient

_TIMEOUT, _RETRIES = "MLFLOW_HTTP_REQUEST_TIMEOUT", "MLFLOW_HTTP_REQUEST_MAX_RETRIES"
_SETTINGS = {
    _TIMEOUT: "4",  # seconds in which a server must take or send some bytes
    _RETRIES: "1",
    "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER": "false",  # a server may ask for an hour
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_DISABLE_SCHEMA_DETAILS": "true",
    "GIT_PYTHON_REFRESH": "quiet",
}
_DATABASE_SECONDS = 60.0  # for one answer; a new database makes its tables before the first
_OPENINGS = 3  # of a database; MLflow's own ten take two minutes
_PORTS = {"http": 80, "https": 443, "postgresql": 5432, "mysql": 3306, "mssql": 1433}


def tracking_uri(project: Project) -> str:
    """`MLFLOW_TRACKING_URI` if it is set, else the database in the project."""
    return os.environ.get("MLFLOW_TRACKING_URI") or local_uri(project)


def local_uri(project: Project) -> str:
    return f"sqlite:///{local_store(project)}"


def local_store(project: Project) -> Path:
    return project.tracking / "mlflow.db"


def remake(project: Project) -> str:
    """What to do about a store of the project that is broken: nothing is deleted, and the records fill a new one."""
    in_the_way = local_store(project) if project.tracking.is_dir() else project.tracking
    names = " ".join(run_names(project)) or "SPEC"
    return (
        f"give {project.relative(in_the_way)} another name, and `mtlspec publish {names}` makes a new store from the "
        "records; only what was added in MLflow by hand or by other programs is in no record"
    )


def shown_address(project: Project, uri: str) -> str:
    """A store in the project by its place in the project."""
    path = Path(uri.removeprefix("sqlite:///"))
    return project.relative(path) if path.is_relative_to(project.root) else uri


def is_local(project: Project, uri: str) -> bool:
    return uri == local_uri(project)


def unusable(uri: str, seconds: float = 2.0) -> str | None:
    """Why MLflow cannot be there, or None. Only a look at a file or at a port: nothing is imported, made or sent."""
    if uri.startswith("sqlite"):
        _, _, file = uri.partition(":///")
        return _unusable_file(Path(file)) if file else None
    if "://" not in uri and "@" in uri:  # MLflow would make a folder of that name
        return "not an address (write it with `http://` or `https://`)"
    try:
        parts = urlsplit(uri)
        port = parts.port or _PORTS.get(parts.scheme.partition("+")[0])
        if not parts.hostname or port is None:
            return None
        behind = parts.path + (parts.query + parts.fragment if parts.scheme in ("http", "https") else "")
        if "@" in behind:  # a sign in the password has ended the host: what looks like one is a part of the password
            raise ValueError
        with socket.create_connection((parts.hostname, port), timeout=seconds):
            return None
    except OSError as error:
        return f"{parts.hostname}:{port} does not answer ({error.strerror or error})"
    except ValueError:  # its text may quote a password
        return (
            "not an address (in a password, write %40 for @, %2F for /, %3A for :)" if "@" in uri else "not an address"
        )


def experiment_id(project: Project, spec_name: str) -> str | None:
    """The id of a spec's experiment in the project's own store, or None. MLflow itself would take seconds to start."""
    import sqlite3

    found = "SELECT experiment_id FROM experiments WHERE name = ? AND lifecycle_stage = 'active'"
    try:
        with closing(sqlite3.connect(f"{local_store(project).as_uri()}?mode=ro", uri=True, timeout=5)) as store:
            row = store.execute(found, [spec_name]).fetchone()
    except sqlite3.Error as error:
        raise SetupError("E629", f"MLflow's store: {error}", local_store(project), remake(project)) from None
    return None if row is None else str(row[0])


def answer_seconds(uri: str) -> float | None:
    """How long one answer may take, from its question to its last byte, with repetitions and redirects.

    None if nothing can be waited for too long: a file. What the user set for MLflow decides about servers.
    """
    scheme = uri.partition("://")[0].partition("+")[0] if "://" in uri else "file"
    if scheme in ("sqlite", "file"):
        return None
    if scheme in _PORTS and not scheme.startswith("http"):
        return _DATABASE_SECONDS
    configure()
    try:
        return (1 + float(os.environ[_RETRIES])) * (1 + float(os.environ[_TIMEOUT]))
    except ValueError:  # MLflow will say so
        return _DATABASE_SECONDS


def _unusable_file(path: Path) -> str | None:
    """Why SQLite cannot use the file; one that is missing or empty becomes a database."""
    import sqlite3

    if not path.exists():
        nearest = next(folder for folder in path.absolute().parents if folder.exists())
        return None if nearest.is_dir() else f"{nearest} is not a folder"
    if path.is_dir():
        return "a folder stands in place of the file"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as store:
            store.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        passing = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY)
        return None if error.sqlite_errorcode & 0xFF in passing else str(error)
    return None


def configure() -> None:
    """Short timeouts, no telemetry, no chatter; what the user set stays."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    for logger in ("mlflow", "alembic", "urllib3"):
        logging.getLogger(logger).setLevel(logging.ERROR)
    logging.getLogger("mlflow.store.db").setLevel(logging.CRITICAL)  # it shows a traceback of what it raises anyway


@contextmanager
def quiet_mlflow(databases: bool = True) -> Iterator[None]:
    """MLflow, whose deprecation warnings about itself do not reach our users; `databases`: it is to open one."""
    configure()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mlflow  # noqa: F401

        configure()  # importing mlflow sets its loggers anew
        if databases:
            from mlflow.store.db import utils

            utils.MAX_RETRY_COUNT = _OPENINGS
        yield


@contextmanager
def quiet_client(uri: str) -> Iterator[MlflowClient]:
    with quiet_mlflow(databases=not uri.startswith("http")):
        from mlflow import MlflowClient

        yield MlflowClient(tracking_uri=uri)
