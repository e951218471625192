"""Free disk of a run: weights of its models, or whole artifacts, here and in DVC's cache.

What another artifact of the project names stays in the cache. Whatever moment a kill comes at, what is left is an
artifact that is whole, one that says what it lacks, or none; freeing again finds the rest.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mtlspec.execute.lockfile import lock_of, read_lock
from mtlspec.execute.pipelines import materialised_runs
from mtlspec.execute.restorable import Restorable
from mtlspec.execute.run_cache import remove_any
from mtlspec.io.freed import ARTIFACT, GATES, WEIGHTS, is_freed, kept_folder
from mtlspec.io.manifest import MANIFEST, verify_manifest, write_manifest
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.write import staged_directory, write_json, write_text_if_changed
from mtlspec.plan.dvc import PIPELINE, artifact

_STRATEGY = "sharing."  # names of tensors that a strategy added


@dataclass(frozen=True)
class Store:
    """The artifacts of a project: those in the folders of its runs, and their copies in DVC's cache."""

    project: Project

    @cached_property
    def cache(self) -> Restorable:
        return Restorable.of(self.project.root)

    @property
    def own_cache(self) -> bool:
        """Whether the cache is this project's alone; another may hold what other projects need."""
        return self.cache.folder.resolve().is_relative_to(self.project.root.resolve())

    @cached_property
    def trees(self) -> dict[Path, str]:
        """Artifact -> the md5 of its listing in the cache, of all runs, as their locks have it."""
        found = {}
        for places in materialised_runs(self.project):
            for name, entry in (read_lock(lock_of(places.base / PIPELINE)) or {}).items():
                outs = {out["path"]: out["md5"] for out in entry["outs"]}
                if artifact(name) in outs:
                    found[places.artifact(name)] = outs[artifact(name)]
        return found

    def objects(self, folder: Path, but: Collection[str] = ()) -> dict[str, Path]:
        """File of an artifact -> its copy in the cache, but for some (md5); empty if there is no listing of it."""
        return {name: self.cache.object(md5) for name, md5 in self._listed(folder).items() if md5 not in but}

    def needed(self, but: Collection[Path]) -> set[str]:
        """The md5 of all that artifacts name, but for some of them; weights that were freed there, too, are not."""
        found: set[str] = set()
        for folder, tree in self.trees.items():
            if folder not in but:
                freed = is_freed(folder)
                found |= {tree, *(md5 for name, md5 in self._listed(folder).items() if not (freed and name == WEIGHTS))}
        return found

    def free_weights(self, places: RunPlaces, stages: Collection[str], gates: Collection[str]) -> int:
        """Bytes that were freed: of trained models, all that is left is what is not weights; of some the gates."""
        folders = {places.artifact(name) for name in stages}
        elsewhere, freed = self.needed(but=folders), 0
        for name in stages:
            folder = places.artifact(name)
            if name in gates and not is_freed(folder):
                _keep_gates(folder)
            freed += _remove(folder / WEIGHTS)
            freed += self._drop([self._listed(folder).get(WEIGHTS)], elsewhere)
        return freed

    def free_artifacts(self, places: RunPlaces, stages: Collection[str]) -> int:
        """Bytes that were freed; of these artifacts nothing is left."""
        folders = {places.artifact(name) for name in stages}
        elsewhere, freed = self.needed(but=folders), 0
        for folder in sorted(folders):
            freed += size(folder)
            (folder / MANIFEST).unlink(missing_ok=True)  # without it, nobody takes the rest for an artifact
            remove_any(folder)
            remove_any(kept_folder(folder))
            files = list(self._listed(folder).values())
            freed += self._drop([*files, self.trees.get(folder)], elsewhere)  # the listing last: it tells of the files
        return freed

    def _drop(self, objects: Collection[str | None], elsewhere: Collection[str]) -> int:
        if not self.own_cache:
            return 0
        return sum(_remove(self.cache.object(md5)) for md5 in objects if md5 is not None and md5 not in elsewhere)

    def _listed(self, folder: Path) -> dict[str, str]:
        listing = self.cache.object(self.trees[folder]) if folder in self.trees else None
        try:
            return {one["relpath"]: one["md5"] for one in json.loads(listing.read_bytes())} if listing else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; what links point to does not count."""
    files = path.rglob("*") if path.is_dir() else iter((path,))
    return sum(file.lstat().st_size for file in files if file.is_file())


def _remove(path: Path) -> int:
    try:
        bytes_ = path.lstat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    return bytes_


def _keep_gates(folder: Path) -> None:
    """Beside the artifacts of the run, sealed, before the weights that they are part of go."""
    from safetensors import safe_open
    from safetensors.numpy import save_file

    digest = verify_manifest(folder)
    with safe_open(folder / WEIGHTS, framework="numpy") as weights:
        own = {name: weights.get_tensor(name) for name in sorted(weights.keys()) if name.startswith(_STRATEGY)}
    target = kept_folder(folder)
    write_text_if_changed(target.parent / ".gitignore", "*\n")
    with staged_directory(target) as out:
        save_file(own, out / GATES)
        write_json(out / ARTIFACT, {"digest": digest})
        write_manifest(out)
