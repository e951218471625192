"""DVC as judge and book-keeper: the only module that touches DVC's Python interface.

DVC decides what is stale, restores what it has seen before, and records what was run, exactly as `dvc repro` would
(a contract test compares the lock files). Its known gaps are closed here: dependencies are compared before and after
a stage, restored artifacts are verified against their manifests, and its run cache is read without trust.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from mtlspec.errors import IntegrityError, SetupError, StageError
from mtlspec.execute.guard import guarded
from mtlspec.execute.leftovers import site_folder
from mtlspec.execute.lockfile import lock_of, read_lock, write_lock
from mtlspec.execute.pipelines import own_pipelines
from mtlspec.execute.resting import see_through
from mtlspec.execute.run_cache import newest_entry, tidy
from mtlspec.io.manifest import MANIFEST, verify_manifest
from mtlspec.io.project import Project, RunPlaces

_FLUSH_INTERVAL = 10.0  # seconds between two writes of dvc.lock, at least
_PATIENCE = 600.0  # seconds to wait for another DVC command
_PAUSE = 0.5  # seconds between two tries
_FLUSH_SHARE = 0.02  # of the time, at most: a lock of hundreds of stages takes seconds to write


class Recorder:
    """One spec's stages as DVC sees them. All calls come from one thread."""

    def __init__(
        self,
        project: Project,
        places: RunPlaces,
        order: Sequence[str],
        waiting: Callable[[str], None],
        rests: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`order` has the names of the run's stages: lock files must not depend on which stage finished first.

        `waiting` is told what the run waits for; `rests` says of which trainings the weights were freed and need not
        come back.
        """
        os.environ.setdefault("DVC_SITE_CACHE_DIR", str(site_folder(project)))
        os.environ.setdefault("DVC_NO_ANALYTICS", "1")
        from dvc.repo import Repo

        if not (project.root / ".dvc").is_dir():
            raise SetupError(
                "E604", "the project has no DVC repository", project.root, "run `dvc init` (or `dvc init --no-scm`)"
            )
        self._root = project.root
        self._places = places
        self._order = order
        self._waiting = waiting
        self._stages: dict[str, Any] = {}
        with guarded("opening the project", project.root):
            self._repo = Repo(str(project.root))
            for path in own_pipelines(project, places):
                for stage in self._repo.stage.load_all(os.path.relpath(path)):
                    self._stages[stage.name] = stage
            self._repo.stage_cache._load = self._newest_entry
            see_through(places, self._stages, rests)
        cache = Path(self._repo.cache.local_cache_dir).resolve()
        if cache.is_relative_to(project.root.resolve()):  # elsewhere other projects may be writing
            with self._locked("tidying the cache"):
                tidy(cache)
        self._started: dict[str, dict[str, str]] = {}
        self._unwritten: list[Any] = []
        self._next_flush = time.monotonic() + _FLUSH_INTERVAL

    def reasons(self, name: str) -> list[str]:
        """Why a stage is stale; empty if DVC calls it up to date."""
        stage = self._stages[name]
        with self._locked(f"looking at stage '{name}'", read=[*stage.deps, *stage.outs]):
            status = stage.status()
        return [reason for entries in status.values() for entry in entries for reason in _reasons(entry)]

    def restore(self, name: str) -> bool:
        """Bring a stage's outputs back from the run cache, whole or not at all."""
        stage = self._stages[name]
        if any(out.persist for out in stage.outs):
            return False  # DVC keeps no such stage in its run cache
        with self._locked(f"restoring stage '{name}'", read=stage.deps, write=stage.outs):
            stage.remove_outs(ignore_remove=False, force=False)
            told = _told_by_lock(stage)
            found = self._check_out(stage)
            cached = _outputs(self._newest_entry(stage))  # also where the lock told: saving looks into the run cache
            if not (found and self._is_whole(stage, told or cached)):
                self._forget({*told.values(), *cached.values()})
                stage.remove_outs(ignore_remove=False, force=False)
                return False
            stage.save()
            stage.commit()
            self._unwritten.append(stage)
        self.flush(force=False)
        return True

    def begin(self, name: str) -> None:
        """Before a stage runs: remove old outputs and remember the digests of its dependencies."""
        stage = self._stages[name]
        with self._locked(f"beginning stage '{name}'", read=stage.deps, write=stage.outs):
            stage.remove_outs(ignore_remove=False, force=False)
            stage.save_deps()
            self._started[name] = _dependency_digests(stage)

    def record(self, name: str) -> None:
        """After a stage ran: compare dependencies, then save outputs, run cache and (soon) the lock."""
        stage = self._stages[name]
        with self._locked(f"recording stage '{name}'", read=stage.deps, write=stage.outs):
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
        with self._locked("writing its lock files"):
            by_file: dict[str, list[Any]] = {}
            for stage in self._unwritten:
                by_file.setdefault(stage.dvcfile.path, []).append(stage)
            for stages in by_file.values():
                self._write_lock(stages)
            self._unwritten.clear()
        cost = time.monotonic() - started
        self._next_flush = started + max(_FLUSH_INTERVAL, cost / _FLUSH_SHARE)

    @property
    def has_flushed(self) -> bool:
        """Whether the lock files tell of all that was recorded."""
        return not self._unwritten

    def free(self, work: Callable[[], object]) -> None:
        """Do something to the cache while no DVC command looks at it."""
        with self._locked("freeing disk"):
            work()

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

    def _check_out(self, stage: Any) -> bool:
        """Let DVC bring back what its lock or its run cache tells; False if it cannot."""
        from dvc.exceptions import DvcException
        from dvc.lock import LockError

        try:
            self._repo.stage_cache.restore(stage)
        except LockError:
            raise
        except DvcException:  # there is none, or it is damaged
            return False
        return True

    def _is_whole(self, stage: Any, told: Mapping[str, str]) -> bool:
        """Check restored artifacts and records byte by byte against what DVC was told."""
        try:
            for out in stage.outs:
                self._check(Path(out.fs_path), told.get(out.def_path, ""))
        except IntegrityError:
            return False
        return True

    def _check(self, path: Path, name: str) -> None:
        """The listing of a directory vouches for its manifest, and the manifest for all other files."""
        if not path.is_dir():
            if not path.is_file() or _md5(path) != name:
                raise IntegrityError("E515", "this is not what was cached", path)
            return
        listing = self._object(name)
        if not listing.is_file() or _md5(listing) != name.removesuffix(".dir"):
            raise IntegrityError("E527", "the cache has no whole listing of this artifact", path)
        listed = {entry["relpath"]: entry["md5"] for entry in json.loads(listing.read_bytes())}
        verify_manifest(path)
        if listed.get(MANIFEST) != _md5(path / MANIFEST):
            raise IntegrityError("E528", "this is not the manifest that was cached", path / MANIFEST)

    def _newest_entry(self, stage: Any) -> dict[str, Any] | None:
        """What the run cache has for a stage with these dependencies; DVC's own look fails at what kills leave."""
        from dvc.stage.cache import _can_hash, _get_stage_hash

        if not _can_hash(stage):
            return None
        return newest_entry(Path(self._repo.stage_cache._get_cache_dir(_get_stage_hash(stage))))

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
    def _locked(self, doing: str, read: Iterable[Any] = (), write: Iterable[Any] = ()) -> Iterator[None]:
        """Hold DVC's locks: that of the repository, and those of the outputs and dependencies to read and write.

        A finished training is worth waiting for another DVC command.
        """
        from dvc.lock import LockError

        paths = [[item.fs_path for item in items] for items in (read, write)]
        deadline = time.monotonic() + _PATIENCE
        with guarded(doing, self._root):
            while True:
                try:
                    held = self._hold(*paths)
                    break
                except LockError as error:
                    if time.monotonic() > deadline:
                        holder = " ".join(str(error).split())
                        hint = "wait for it and run again"
                        raise SetupError("E605", f"another DVC command is running: {holder}", None, hint) from None
                    self._waiting("another DVC command")
                    time.sleep(_PAUSE)
            with held:
                yield

    def _hold(self, read: list[str], write: list[str]) -> ExitStack:
        from dvc.rwlock import rwlock

        repo = self._repo
        with ExitStack() as held:
            repo.lock.lock()  # tries for a few seconds
            held.callback(repo.lock.unlock)
            held.callback(_forget_staged_listings)
            if read or write:
                hard = repo.config["core"].get("hardlink_lock", False)
                held.enter_context(rwlock(repo.tmp_dir, repo.fs, " ".join(sys.argv), read, write, hard))
            return held.pop_all()


def _forget_staged_listings() -> None:
    """DVC keeps every directory listing it hashed in memory and searches all of them for each new one."""
    from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped]

    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


def _told_by_lock(stage: Any) -> dict[str, str]:
    """Path -> md5 where the lock is about these dependencies, from which DVC then restores; otherwise empty."""
    if stage.changed_stage() or not stage.deps_cached() or not all(out.hash_info for out in stage.outs):
        return {}
    return {str(out.def_path): str(out.hash_info.value) for out in stage.outs}


def _outputs(entry: Mapping[str, Any] | None) -> dict[str, str]:
    return {out["path"]: out["md5"] for out in entry["outs"]} if entry else {}


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _dependency_digests(stage: Any) -> dict[str, str]:
    return {str(dep.def_path): str(dep.hash_info) for dep in stage.deps}


def _reasons(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    return [f"{path} {state}" for changes in entry.values() for path, state in changes.items()]
