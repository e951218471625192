"""What a killed command leaves behind and the next one would stumble over: removed before a run, without asking.

Nothing is lost with it. Locks and records come back from the run cache, digests of files are computed again, and what
was half-written had not been finished.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from mtlspec.execute.lockfile import lock_of, read_lock
from mtlspec.execute.pipelines import possible_pipelines
from mtlspec.execute.run_cache import remove_any
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.write import leftovers
from mtlspec.plan.dvc import results_file

_AGE = 3600.0  # seconds after which nobody can still be writing a file of a few pages


def repair_metadata(project: Project, places: RunPlaces) -> list[str]:
    """Remove what a killed command left; says what of it was broken. The caller holds the run's lock."""
    broken = [lock for lock in map(lock_of, possible_pipelines(project, places)) if read_lock(lock) is None]
    broken += _broken_databases(site_folder(project))
    for path in broken:
        remove_any(path)
    broken += _mend_rwlock(project.root / ".dvc" / "tmp")
    for path in _temporary(project, places):
        remove_any(path)
    return [project.relative(path) for path in broken]


def site_folder(project: Project) -> Path:
    """Where DVC remembers digests of files, unless the user has another place for it."""
    return project.root / ".dvc" / "tmp" / "site"


def _temporary(project: Project, places: RunPlaces) -> Iterator[Path]:
    """Half-written files: all in the run's folders, which are ours alone; old ones where other runs write too."""
    for name in ("", "stages", "code", "records", "timings", "artifacts", "work"):
        yield from leftovers(places.base / name)
    for outside in (False, True):
        for path in leftovers((project.root / results_file(outside)).parent):
            if path.name.startswith(".dvc.") and time.time() - path.stat().st_mtime > _AGE:
                yield path


def _broken_databases(site: Path) -> list[Path]:
    """Folders of databases that SQLite cannot read."""
    return [path.parent for path in site.rglob("cache.db") if not _readable(path)]


def _readable(database: Path) -> bool:
    try:
        with closing(sqlite3.connect(database, timeout=5)) as store:
            return bool(store.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError as error:
        busy = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL)
        return error.sqlite_errorcode & 0xFF in busy


def _mend_rwlock(folder: Path) -> list[Path]:
    """DVC's list of who reads and writes what: removed if it is none, and freed of those who cannot live any more.

    A process number that was given away again would stop DVC for as long as its new owner lives. DVC edits the list
    under a lock of its own, and so do we: a list that is just being written looks broken.
    """
    from dvc.lock import LockError, make_lock

    path = folder / "rwlock"
    if not path.is_file():
        return []
    try:
        with make_lock(str(folder / "rwlock.lock"), tmp_dir=str(folder)):
            held = _read_rwlock(path)
            if held is None:
                path.unlink()
                return [path]
            alive = _without_the_dead(held, path.stat().st_mtime)
            if alive != held:
                path.write_text(json.dumps(alive), encoding="utf-8")
    except LockError:  # somebody edits it, so it is in use and whole
        pass
    return []


def _read_rwlock(path: Path) -> dict[str, Any] | None:
    from dvc.rwlock import SCHEMA
    from voluptuous import Invalid

    try:
        return dict(SCHEMA(json.loads(path.read_bytes())))
    except (ValueError, Invalid):
        return None


def _without_the_dead(held: dict[str, Any], written: float) -> dict[str, Any]:
    """Entries of processes that lived when the list was written; it names them in other words for readers."""
    write = {path: info for path, info in held["write"].items() if _was_alive(info["pid"], written)}
    read = {path: [info for info in infos if _was_alive(info["pid"], written)] for path, infos in held["read"].items()}
    return {"write": write, "read": {path: infos for path, infos in read.items() if infos}}


def _was_alive(pid: int, when: float) -> bool:
    """Whether the process of this number can be the one that was meant then; it is never us, who have not begun."""
    import psutil  # type: ignore[import-untyped]

    try:
        return pid != os.getpid() and psutil.Process(pid).create_time() <= when + 1
    except psutil.Error:
        return False
