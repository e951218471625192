"""What DVC's run cache will bring back, told without DVC, whose import takes longer than a plan.

Only read here; end-to-end tests compare what is foretold with what a run then does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import dataclass
from pathlib import Path

from mtlspec.execute.lockfile import read_entry

Outputs = dict[str, str]  # path as dvc.yaml has it -> md5


@dataclass(frozen=True)
class Restorable:
    folder: Path

    @classmethod
    def of(cls, root: Path) -> Restorable:
        """The cache of a project: its own, or where the project's DVC configuration says."""
        folder = root / ".dvc" / "cache"
        for name in ("config", "config.local"):
            config = ConfigParser(interpolation=None, strict=False)
            try:
                config.read(root / ".dvc" / name, encoding="utf-8")
            except (ConfigError, UnicodeDecodeError):  # `mtlspec run` will say so
                continue
            said = config.get("cache", "dir", fallback=None)
            folder = root / ".dvc" / said if said else folder
        return cls(folder)

    def outputs(self, command: str, dependencies: Mapping[str, str], paths: Iterable[str]) -> Outputs | None:
        """What a stage with these dependencies (path -> md5) left when it last ran, if all of it is still there."""
        folder = self.folder / "runs" / (key := _key(command, dependencies, paths))[:2] / key
        newest = sorted(folder.glob("?" * 64), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        entry = next((entry for path in newest if (entry := read_entry(path)) is not None), None)
        found = {out["path"]: out["md5"] for out in entry["outs"]} if entry is not None else {}
        return found if found and self.has(found.values()) else None

    def object(self, name: str) -> Path:
        """Where the cache keeps a file, or the listing of a folder, by its md5."""
        return self.folder / "files" / "md5" / name[:2] / name[2:]

    def has(self, objects: Iterable[str]) -> bool:
        """Whether the cache holds these files and, for folders, everything that is in them."""
        for name in objects:
            path = self.object(name)
            if not path.is_file():
                return False
            if name.endswith(".dir") and not self.has(_listed(path)):
                return False
        return True


def _key(command: str, dependencies: Mapping[str, str], paths: Iterable[str]) -> str:
    """The name that DVC gives to all runs of one command on the same dependencies."""
    deps = [{"path": path, "hash": "md5", "md5": dependencies[path]} for path in sorted(dependencies)]
    told = {"cmd": command, "deps": deps, "outs": sorted(paths)}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _listed(folder: Path) -> list[str]:
    try:
        return [entry["md5"] for entry in json.loads(folder.read_bytes())]
    except (ValueError, KeyError, TypeError):  # a run finds it broken, too, and computes anew
        return ["broken"]
