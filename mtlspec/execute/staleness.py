"""Which stages must run and why, told in the spec's own words; reads the lock file, never DVC, so it is quick."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mtlspec.execute.lockfile import lock_of, read_lock
from mtlspec.execute.materialise import Materialised
from mtlspec.io.manifest import MANIFEST
from mtlspec.io.project import RunPlaces
from mtlspec.plan.types import Stage

State = Literal["cached", "stale", "missing", "new"]
_IF_CHOSEN = ", if it chooses other tasks"
_MANY = 4  # reasons of one sort that are named one by one


@dataclass(frozen=True)
class StageStatus:
    stage: Stage
    state: State
    reasons: tuple[str, ...]


def statuses(planned: Materialised) -> list[StageStatus]:
    """Call before `planned.write()`: the old files on disk tell what changed."""
    locked = _locked_dependencies(planned.places)
    result: list[StageStatus] = []
    waiting: set[str] = set()
    for stage in planned.plan.stages:
        status = _status(planned, stage, locked.get(stage.name), waiting)
        if status.state in ("stale", "new"):
            waiting.add(stage.name)
        result.append(status)
    return result


def _status(planned: Materialised, stage: Stage, locked: Mapping[str, str] | None, waiting: set[str]) -> StageStatus:
    places = planned.places
    if locked is None:
        return StageStatus(stage, "new", ("never run",))
    reasons: list[str] = []
    params = places.params(stage.name)
    if locked.get(f"stages/{stage.name}.json") != _md5(planned.fixed[params]):
        reasons += _differences(_old(params), json.loads(planned.fixed[params]), "options")
    code = places.code(stage.unit)
    if locked.get(f"code/{stage.unit}.json") != _md5(planned.derived[code]):
        reasons += _differences(_old(code), json.loads(planned.derived[code]), "code")
    after = {parent: role for role, parent in stage.inputs.items() if parent in waiting}
    reasons += [f"after {parent}{_IF_CHOSEN if role == 'select' else ''}" for parent, role in after.items()]
    if reasons:
        return StageStatus(stage, "stale", _shortened(reasons))
    if not (places.artifact(stage.name) / MANIFEST).is_file() or not places.stage_record(stage.name).is_file():
        return StageStatus(stage, "missing", ("not on this machine: comes from the cache, or is made again",))
    return StageStatus(stage, "cached", ())


def _locked_dependencies(places: RunPlaces) -> dict[str, dict[str, str]]:
    """Stage -> dependency path -> md5, from dvc.lock."""
    entries = read_lock(lock_of(places.base / "dvc.yaml")) or {}
    return {name: {dep["path"]: dep["md5"] for dep in entry.get("deps", [])} for name, entry in entries.items()}


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _old(path: Any) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def _differences(old: Any, new: Any, what: str) -> list[str]:
    """Keys (or source files) whose values differ; the bare fact if the old file tells nothing."""
    if old is None or old == new:
        return [f"{what} changed"]
    paths = list(changed_paths(old, new))
    if what == "code":
        return [f"{path.removeprefix('files.').removeprefix('packages.')} changed" for path, _, _ in paths]
    return [f"{path.removeprefix('params.')}: {_short(a)} → {_short(b)}" for path, a, b in paths]


def changed_paths(old: Any, new: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two trees of mappings differ: path, old value, new value."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                yield from changed_paths(old.get(key), new.get(key), f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, old, new


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


def _shortened(reasons: list[str]) -> tuple[str, ...]:
    if len(reasons) <= _MANY:
        return tuple(reasons)
    return (*reasons[:_MANY], f"and {len(reasons) - _MANY} more")
