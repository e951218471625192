"""The project's own MLflow database: made under another name and renamed when it is whole, however its maker ends."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

from mtlspec.track.server import quiet_mlflow

_BESIDE = ("-journal", "-wal", "-shm")  # files of SQLite that belong to a database of this name and to no other
_ON_THE_WAY = "_alembic_tmp_"  # tables that a migration copies rows to, before they take the place of the old ones
_ROW = {
    "runs": "SELECT 1 FROM runs LIMIT 1",
    "_alembic_tmp_runs": "SELECT 1 FROM _alembic_tmp_runs LIMIT 1",
    "alembic_version": "SELECT 1 FROM alembic_version LIMIT 1",
    "experiments": "SELECT 1 FROM experiments LIMIT 1",
}


def is_unfinished(path: Path) -> bool:
    """Whether the database is missing, or one whose making was cut short; one that holds runs never is.

    MLflow commits in the middle of its migrations and cannot go on from there. The last that it does to a new database
    is to add an experiment. What SQLite cannot read now is not judged here.
    """
    if not path.exists():
        return True
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=1)) as store:
            tables = {str(name) for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            filled = {name for name in tables & _ROW.keys() if store.execute(_ROW[name]).fetchone() is not None}
    except sqlite3.Error:
        return False
    if filled & {"runs", "_alembic_tmp_runs"}:
        return False
    return not filled >= {"alembic_version", "experiments"} or any(name.startswith(_ON_THE_WAY) for name in tables)


def is_half_migrated(path: Path) -> bool:
    """Whether a migration was interrupted: MLflow stumbles over the tables that it left, now and ever after."""
    if not path.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)) as store:
            names = [str(name) for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    except sqlite3.Error:
        return False
    return any(name.startswith(_ON_THE_WAY) for name in names)


def make_whole(path: Path) -> Path | None:
    """Make the database if it is missing, unfinished or half migrated. Who calls this keeps others from doing the same.

    One that holds runs is kept under another name, which is returned: they may be somebody's own.
    """
    building = path.with_name(f"{path.name}.building")
    _remove(building)
    aside = None
    if not is_unfinished(path):
        if not is_half_migrated(path):
            return None
        aside = _set_aside(path)
    try:
        _build(building)
        _remove(path)  # with its journal, which SQLite would apply to the new one
        building.rename(path)
    finally:
        _remove(building)
    return aside


def _set_aside(path: Path) -> Path:
    """With its journals, under the first name that is free."""
    aside = next(free for number in count(1) if not (free := path.with_name(f"broken-{number}-{path.name}")).exists())
    for end in ("", *_BESIDE):
        if path.with_name(path.name + end).exists():
            path.with_name(path.name + end).rename(aside.with_name(aside.name + end))
    return aside


def _build(path: Path) -> None:
    with quiet_mlflow():
        from mlflow.store.tracking import DEFAULT_LOCAL_FILE_AND_ARTIFACT_PATH
        from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

        store = SqlAlchemyStore(f"sqlite:///{path}", DEFAULT_LOCAL_FILE_AND_ARTIFACT_PATH)
        store.engine.dispose()  # an open connection would stay with the file under its new name


def _remove(path: Path) -> None:
    for name in (path.name, *(path.name + end for end in _BESIDE)):
        path.with_name(name).unlink(missing_ok=True)
