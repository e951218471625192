"""Which stages must run and why, told in the spec's own words; reads the lock file, never DVC, so it is quick."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mtlspec.execute.kept_models import KeptModels
from mtlspec.execute.lockfile import lock_of, read_lock
from mtlspec.execute.materialise import Materialised
from mtlspec.execute.reasons import code_reasons, option_reasons, parent_reasons
from mtlspec.execute.restorable import Outputs, Restorable
from mtlspec.io.manifest import MANIFEST
from mtlspec.plan.dvc import PIPELINE, artifact, code_file, params_file, record_file, stage_command
from mtlspec.plan.types import Stage

State = Literal["cached", "stale", "missing", "new"]
_RESTORED = "comes back from the cache"


@dataclass(frozen=True)
class StageStatus:
    stage: Stage
    state: State  # of what the lock and the disk have: cached is up to date and here
    reasons: tuple[str, ...]
    restored: bool = False  # a run brings it back from DVC's cache

    @property
    def computed(self) -> bool:
        """Whether a run has to compute it."""
        return self.state != "cached" and not self.restored


@dataclass(frozen=True)
class _Locked:
    """What dvc.lock says of a stage: paths with their md5."""

    deps: Outputs
    outs: Outputs


def statuses(planned: Materialised) -> list[StageStatus]:
    """In the plan's order. Call before `planned.write()`: the old files on disk tell what changed."""
    locked = _read_lock(planned)
    cache = Restorable.of(planned.project.root)
    made: dict[str, str] = {}  # stage -> md5 of the artifact that its children will see; none if it must run first
    result: list[StageStatus] = []
    for stage in planned.plan.stages:
        seen = locked.get(stage.name)
        needed = _dependencies(planned, stage, made)
        status = _status(planned, stage, seen, made)
        outs = seen.outs if seen and status.state in ("cached", "missing") else {}  # made again, it will be the same
        if status.state != "cached" and (found := _cached_outputs(cache, stage, needed, seen)):
            why = status.reasons if status.state == "stale" else ()
            status, outs = StageStatus(stage, status.state, (_RESTORED, *why), restored=True), found
        if artifact(stage.name) in outs:
            made[stage.name] = outs[artifact(stage.name)]
        result.append(status)
    return _with_freed(planned, result, lambda name: name in locked and cache.has(locked[name].outs.values()))


def _with_freed(
    planned: Materialised, found: Sequence[StageStatus], in_cache: Callable[[str], bool]
) -> list[StageStatus]:
    """Models whose weights were freed count as there, unless the spec keeps more or a stage that is computed reads it.

    From the last stage to the first: a model that is trained again may read others. Its bytes will be the same, so
    that nothing else changes.
    """
    models, told = KeptModels.of(planned.plan, planned.places), {status.stage.name: status for status in found}
    wanted: dict[str, str] = {}
    for status in reversed(found):
        name, state = status.stage.name, status
        if status.state == "cached" and status.stage.kind == "train" and models.there(name) != "weights":
            why = wanted.get(name) or (None if models.rests(name) else "the spec keeps more of it")
            if why is not None:
                back = in_cache(name)
                reasons = (_RESTORED,) if back else (f"its weights were freed, and {why}",)
                state = StageStatus(status.stage, "missing", reasons, restored=back)
        told[name] = state
        if state.computed:
            wanted |= dict.fromkeys(models.lacking(state.stage), f"{name} reads them")
    return [told[status.stage.name] for status in found]


def _status(planned: Materialised, stage: Stage, locked: _Locked | None, made: Mapping[str, str]) -> StageStatus:
    """As the lock and the disk have it."""
    places = planned.places
    if locked is None:
        return StageStatus(stage, "new", ("never run",))
    reasons: list[str] = []
    params, code = places.params(stage.name), places.code(stage.unit)
    if locked.deps.get(params_file(stage)) != _md5(planned.fixed[params]):
        reasons += option_reasons(_old(params), json.loads(planned.fixed[params]))
    if locked.deps.get(code_file(stage)) != _md5(planned.derived[code]):
        reasons += code_reasons(_old(code), json.loads(planned.derived[code]))
    first = {role: name for role, name in stage.inputs.items() if locked.deps.get(artifact(name)) != made.get(name)}
    undecided = [name for role, name in first.items() if role == "select"]
    reasons += parent_reasons([name for name in first.values() if name not in undecided], undecided)
    if reasons:
        return StageStatus(stage, "stale", tuple(reasons))
    if not (places.artifact(stage.name) / MANIFEST).is_file() or not places.stage_record(stage.name).is_file():
        return StageStatus(stage, "missing", ("neither on this machine nor in the cache",))
    return StageStatus(stage, "cached", ())


def _dependencies(planned: Materialised, stage: Stage, made: Mapping[str, str]) -> Outputs | None:
    """Path -> md5 of all that a stage will read; None as long as an input is not there."""
    parents = set(stage.inputs.values())
    if not parents <= made.keys():
        return None
    return {
        params_file(stage): _md5(planned.fixed[planned.places.params(stage.name)]),
        code_file(stage): _md5(planned.derived[planned.places.code(stage.unit)]),
        **{artifact(parent): made[parent] for parent in parents},
    }


def _cached_outputs(cache: Restorable, stage: Stage, needed: Outputs | None, locked: _Locked | None) -> Outputs | None:
    """What the cache has of a stage: its last run on these dependencies, or the one that the lock tells of."""
    if needed is None:
        return None
    if locked is not None and locked.outs and locked.deps == needed and cache.has(locked.outs.values()):
        return locked.outs
    return cache.outputs(stage_command(stage.name), needed, (artifact(stage.name), record_file(stage.name)))


def _read_lock(planned: Materialised) -> dict[str, _Locked]:
    entries = read_lock(lock_of(planned.places.base / PIPELINE)) or {}
    return {
        name: _Locked(*({file["path"]: file["md5"] for file in entry.get(part, [])} for part in ("deps", "outs")))
        for name, entry in entries.items()
    }


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _old(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
