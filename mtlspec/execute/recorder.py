"""DVC as judge and book-keeper: the only module that touches DVC's Python interface.

DVC decides what is stale, restores what it has seen before, and records what was run, exactly as `dvc repro` would
(a contract test compares the lock files). Its known gaps are closed here: dependencies are compared before and after
a stage, restored artifacts are verified against their manifests, and broken metadata is repaired first.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtlspec.errors import IntegrityError, SetupError, StageError
from mtlspec.execute.lockfile import lock_of, read_lock, write_lock
from mtlspec.io.manifest import verify_manifest
from mtlspec.io.project import Project, RunPlaces
from mtlspec.plan.dvc import results_file

_FLUSH_INTERVAL = 10.0  # seconds between two writes of dvc.lock, at least
_PATIENCE = 600.0  # seconds to wait for another DVC command
_FLUSH_SHARE = 0.02  # of the time, at most: a lock of hundreds of stages takes seconds to write


def repair_metadata(project: Project, places: RunPlaces) -> list[str]:
    """Remove what a killed DVC leaves behind and then stumbles over; says what was removed.

    A lock file that is not whole is no loss: the run cache has what it said.
    """
    broken = [lock for lock in map(lock_of, _pipelines(project, places)) if read_lock(lock) is None]
    rwlock = project.root / ".dvc" / "tmp" / "rwlock"
    if rwlock.is_file():
        try:
            json.loads(rwlock.read_bytes())
        except ValueError:
            broken.append(rwlock)
    for path in broken:
        path.unlink()
    return [project.relative(path) for path in broken]


def _pipelines(project: Project, places: RunPlaces) -> list[Path]:
    """The run's own stages, and where its results may be."""
    results = [project.root / results_file(outside) for outside in (False, True)]
    return [path for path in (places.base / "dvc.yaml", *results) if path.is_file()]


class Recorder:
    """One spec's stages as DVC sees them. All calls come from one thread."""

    def __init__(
        self, project: Project, places: RunPlaces, order: Sequence[str], waiting: Callable[[str], None]
    ) -> None:
        """`order` has the names of the run's stages: lock files must not depend on which stage finished first.

        `waiting` is told what the run waits for.
        """
        os.environ.setdefault("DVC_SITE_CACHE_DIR", str(project.root / ".dvc" / "tmp" / "site"))
        os.environ.setdefault("DVC_NO_ANALYTICS", "1")
        from dvc.repo import Repo

        if not (project.root / ".dvc").is_dir():
            raise SetupError(
                "E604", "the project has no DVC repository", project.root, "run `dvc init` (or `dvc init --no-scm`)"
            )
        self._places = places
        self._order = order
        self._waiting = waiting
        self._repo = Repo(str(project.root))
        self._stages: dict[str, Any] = {}
        for path in _pipelines(project, places):
            for stage in self._repo.stage.load_all(os.path.relpath(path)):
                self._stages[stage.name] = stage
        self._started: dict[str, dict[str, str]] = {}
        self._unwritten: list[Any] = []
        self._next_flush = time.monotonic() + _FLUSH_INTERVAL

    def reasons(self, name: str) -> list[str]:
        """Why a stage is stale; empty if DVC calls it up to date."""
        with self._locked():
            status = self._stages[name].status()
        return [reason for entries in status.values() for entry in entries for reason in _reasons(entry)]

    def restore(self, name: str) -> bool:
        """Bring a stage's outputs back from the run cache, whole or not at all."""
        from dvc.stage.cache import RunCacheNotFoundError

        stage = self._stages[name]
        if any(out.persist for out in stage.outs):
            return False  # DVC keeps no such stage in its run cache
        with self._locked():
            stage.remove_outs(ignore_remove=False, force=False)
            try:
                self._repo.stage_cache.restore(stage)
            except RunCacheNotFoundError:
                self._forget(self._cached_outputs(stage).values())
                return False
            if not self._verified(stage):
                return False
            stage.save()
            stage.commit()
            self._unwritten.append(stage)
        self.flush(force=False)
        return True

    def begin(self, name: str) -> None:
        """Before a stage runs: remove old outputs and remember the digests of its dependencies."""
        stage = self._stages[name]
        with self._locked():
            stage.remove_outs(ignore_remove=False, force=False)
            stage.save_deps()
            self._started[name] = _dependency_digests(stage)

    def record(self, name: str) -> None:
        """After a stage ran: compare dependencies, then save outputs, run cache and (soon) the lock."""
        stage = self._stages[name]
        with self._locked():
            before = self._started.pop(name)
            stage.save_deps()
            after = _dependency_digests(stage)
            changed = sorted(path for path in after if before.get(path) != after[path])
            if changed:
                stage.remove_outs(ignore_remove=False, force=False)
                raise StageError(
                    "E407", f"'{changed[0]}' changed while stage '{name}' ran", None, "nothing was kept; run again"
                )
            stage.save()
            stage.commit()
            self._unwritten.append(stage)
        self.flush(force=False)

    def flush(self, force: bool = True) -> None:
        """Write pending stages to their lock files; a crash before that loses nothing, the run cache has them."""
        started = time.monotonic()
        if not self._unwritten or not (force or started > self._next_flush):
            return
        with self._locked():
            by_file: dict[str, list[Any]] = {}
            for stage in self._unwritten:
                by_file.setdefault(stage.dvcfile.path, []).append(stage)
            for stages in by_file.values():
                self._write_lock(stages)
            self._unwritten.clear()
        cost = time.monotonic() - started
        self._next_flush = started + max(_FLUSH_INTERVAL, cost / _FLUSH_SHARE)

    def close(self) -> None:
        self.flush()
        self._repo.close()

    def _write_lock(self, stages: Sequence[Any]) -> None:
        """As DVC's own `dump_stages`, which parses the old file with its comments and so takes three times as long.

        The run's own lock is kept in the plan's order, without stages that left the plan.
        """
        from dvc.stage.serialize import to_lockfile

        pipeline = Path(stages[0].dvcfile.path)
        entries = read_lock(lock_of(pipeline)) or {}
        for stage in stages:
            entries.update(to_lockfile(stage))
        if pipeline.parent == self._places.base:
            entries = {name: entries[name] for name in self._order if name in entries}
        write_lock(lock_of(pipeline), entries)
        self._repo.scm_context.track_file(os.path.relpath(lock_of(pipeline)))

    def _verified(self, stage: Any) -> bool:
        """Check restored artifacts and records byte by byte; forget corrupt ones, so that the stage runs again."""
        cached = self._cached_outputs(stage)
        try:
            for out in stage.outs:
                path = Path(out.fs_path)
                if path.is_dir():
                    verify_manifest(path)
                elif _md5(path) != cached[out.def_path]:
                    raise IntegrityError("E515", "this is not what was cached", path)
        except IntegrityError:
            self._forget(cached.values())
            stage.remove_outs(ignore_remove=False, force=False)
            return False
        return True

    def _cached_outputs(self, stage: Any) -> dict[str, str]:
        """Path -> md5 of what the run cache has for a stage with these dependencies."""
        remembered = self._repo.stage_cache._load(stage) or {}
        return {out["path"]: out["md5"] for out in remembered.get("outs", [])}

    def _forget(self, objects: Iterable[str]) -> None:
        """Drop objects that are not what their names say from the cache; DVC would take them for what it saves anew."""
        for name in objects:
            path = self._object(name)
            if path.is_file() and _md5(path) != name.removesuffix(".dir"):
                path.unlink()
            elif path.is_file() and name.endswith(".dir"):
                self._forget(entry["md5"] for entry in json.loads(path.read_bytes()))

    def _object(self, name: str) -> Path:
        return Path(self._repo.cache.local.oid_to_path(name))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold DVC's repository lock; a finished training is worth waiting for another DVC command."""
        from dvc.lock import LockError

        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._repo.lock.lock()  # tries for a few seconds
                break
            except LockError:
                if time.monotonic() > deadline:
                    hint = "wait for it and run again"
                    raise SetupError("E605", "another DVC command is running", None, hint) from None
                self._waiting("another DVC command")
        try:
            yield
        finally:
            _forget_staged_listings()
            self._repo.lock.unlock()


def _forget_staged_listings() -> None:
    """DVC keeps every directory listing it hashed in memory and searches all of them for each new one."""
    from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]

    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _dependency_digests(stage: Any) -> dict[str, str]:
    return {str(dep.def_path): str(dep.hash_info) for dep in stage.deps}


def _reasons(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    return [f"{path} {state}" for changes in entry.values() for path, state in changes.items()]
