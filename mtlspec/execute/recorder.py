"""DVC as judge and book-keeper: the only module that touches DVC's Python interface.

DVC decides what is stale, restores what it has seen before, and records what was run, exactly as `dvc repro` would
(a contract test compares the lock files). Its known gaps are closed here: dependencies are compared before and after
a stage, restored artifacts are verified against their manifests, and broken metadata is repaired first.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtlspec.errors import IntegrityError, SetupError, StageError
from mtlspec.io.manifest import verify_manifest
from mtlspec.io.project import Project, RunPlaces

_FLUSH_INTERVAL = 5.0  # seconds between two writes of dvc.lock


def repair_metadata(project: Project) -> list[str]:
    """Remove what a killed DVC leaves behind and then stumbles over; says what was removed."""
    repaired = []
    rwlock = project.root / ".dvc" / "tmp" / "rwlock"
    if rwlock.is_file():
        try:
            json.loads(rwlock.read_bytes())
        except ValueError:
            rwlock.unlink()
            repaired.append(project.relative(rwlock))
    return repaired


class Recorder:
    """One spec's stages as DVC sees them. All calls come from one thread."""

    def __init__(self, project: Project, places: RunPlaces) -> None:
        os.environ.setdefault("DVC_SITE_CACHE_DIR", str(project.root / ".dvc" / "tmp" / "site"))
        os.environ.setdefault("DVC_NO_ANALYTICS", "1")
        from dvc.repo import Repo

        logging.getLogger("dvc").setLevel(logging.ERROR)
        if not (project.root / ".dvc").is_dir():
            raise SetupError(
                "E604", "the project has no DVC repository", project.root, "run `dvc init` (or `dvc init --no-scm`)"
            )
        self._places = places
        self._repo = Repo(str(project.root))
        self._stages: dict[str, Any] = {}
        for path in (places.base / "dvc.yaml", project.root / "dvc.yaml"):
            for stage in self._repo.stage.load_all(os.path.relpath(path)):
                self._stages[stage.name] = stage
        self._started: dict[str, dict[str, str]] = {}
        self._unwritten: list[Any] = []
        self._flushed = time.monotonic()

    def reasons(self, name: str) -> list[str]:
        """Why a stage is stale; empty if DVC calls it up to date."""
        with self._locked():
            status = self._stages[name].status()
        return [reason for entries in status.values() for entry in entries for reason in _reasons(entry)]

    def restore(self, name: str) -> bool:
        """Bring a stage's outputs back from the run cache, whole or not at all."""
        from dvc.stage.cache import RunCacheNotFoundError

        stage = self._stages[name]
        with self._locked():
            stage.remove_outs(ignore_remove=False, force=False)
            try:
                self._repo.stage_cache.restore(stage)
            except RunCacheNotFoundError:
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
        if not self._unwritten or not (force or time.monotonic() - self._flushed > _FLUSH_INTERVAL):
            return
        with self._locked():
            by_file: dict[str, list[Any]] = {}
            for stage in self._unwritten:
                by_file.setdefault(stage.dvcfile.path, []).append(stage)
            for stages in by_file.values():
                stages[0].dvcfile.dump_stages(stages, update_pipeline=False)
            self._unwritten.clear()
        self._flushed = time.monotonic()

    def close(self, order: Iterable[str]) -> None:
        """Flush, and put the run's lock file into the plan's order: it must not depend on who finished first."""
        from dvc.utils.serialize import dump_yaml, load_yaml

        self.flush()
        lock = self._places.base / "dvc.lock"
        if lock.is_file():
            content = load_yaml(str(lock))
            stages: Mapping[str, Any] = content["stages"]
            wanted = [name for name in order if name in stages]
            if list(stages) != wanted:
                content["stages"] = {name: stages[name] for name in wanted}
                dump_yaml(str(lock), content)
        self._repo.close()

    def _verified(self, stage: Any) -> bool:
        """Check restored artifacts byte by byte; forget corrupt ones, so that the stage runs again."""
        for out in stage.outs:
            directory = Path(out.fs_path)
            if not directory.is_dir():
                continue
            try:
                verify_manifest(directory)
            except IntegrityError:
                self._forget(stage)
                stage.remove_outs(ignore_remove=False, force=False)
                return False
        return True

    def _forget(self, stage: Any) -> None:
        """Drop a stage's directory listings from the cache, and every object that is not what its name says."""
        cache = self._repo.cache.local
        remembered = self._repo.stage_cache._load(stage) or {}
        listings = {out["md5"] for out in remembered.get("outs", []) if "md5" in out}
        listings |= {out.hash_info.value for out in stage.outs if out.hash_info}
        for name in sorted(oid for oid in listings if oid.endswith(".dir")):
            listing = Path(cache.oid_to_path(name))
            if not listing.is_file():
                continue
            for entry in json.loads(listing.read_bytes()):
                path = Path(cache.oid_to_path(entry["md5"]))
                if path.is_file() and _md5(path) != entry["md5"]:
                    path.unlink()
            listing.unlink()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold DVC's repository lock; DVC itself waits a few seconds for another command to finish."""
        from dvc.lock import LockError

        try:
            self._repo.lock.lock()
        except LockError:
            raise SetupError("E605", "another DVC command is running", None, "wait for it and run again") from None
        try:
            yield
        finally:
            self._repo.lock.unlock()


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def _dependency_digests(stage: Any) -> dict[str, str]:
    return {str(dep.def_path): str(dep.hash_info) for dep in stage.deps}


def _reasons(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    return [f"{path} {state}" for changes in entry.values() for path, state in changes.items()]
