"""What a run holds on this disk, artifact by artifact, and what of it could be made again if it were freed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from mtlspec.execute.freeing import Store, size
from mtlspec.execute.machine import Machine
from mtlspec.execute.staleness import StageStatus
from mtlspec.execute.standing import Standing, standing
from mtlspec.io.freed import WEIGHTS
from mtlspec.io.project import Project, RunPlaces
from mtlspec.plan.types import Plan, Stage
from mtlspec.track.environment import environment
from mtlspec.track.record import read_stage_record

_COMPUTES = ("encoder", "train", "evaluate", "measure")  # whose bits depend on the platform
_ELSEWHERE = ("torch", "gpu")  # facts that only stages themselves can tell


@dataclass(frozen=True)
class Holding:
    """The weights of a model, or a whole artifact."""

    stage: Stage
    here: int  # bytes in the run's folder
    cached: int  # bytes in DVC's cache that no other artifact names
    seconds: float | None  # that it took, if it was made here
    lost: str | None  # why it could not be made again; None: it can

    @property
    def size(self) -> int:
        return self.here + self.cached


@dataclass
class Holdings:
    """Of one run: the weights of its models, or with `everything` all of its artifacts."""

    store: Store
    places: RunPlaces
    plan: Plan
    standing: Standing
    everything: bool
    _lost: dict[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, project: Project, places: RunPlaces, everything: bool) -> Holdings:
        found = standing(project, places)
        plan = found.planned.plan if found.planned is not None else Plan.read(places.plan)
        return cls(Store(project), places, plan, found, everything)

    def all(self) -> list[Holding]:
        """Those that take any disk, in the order of the plan."""
        stages = [stage for stage in self.plan.stages if self.everything or stage.kind == "train"]
        elsewhere = self.store.needed(but={self.places.artifact(stage.name) for stage in stages})
        found = [self._holding(stage, elsewhere) for stage in stages]
        return [holding for holding in found if holding.size]

    def _holding(self, stage: Stage, elsewhere: Collection[str]) -> Holding:
        folder = self.places.artifact(stage.name)
        objects = self.store.objects(folder, elsewhere) if self.store.own_cache else {}
        if self.everything:
            here, cached = size(folder), sum(map(size, objects.values()))
        else:
            here, cached = size(folder / WEIGHTS), size(objects[WEIGHTS]) if WEIGHTS in objects else 0
        return Holding(stage, here, cached, self._seconds(stage.name), self._why_lost(stage))

    def _seconds(self, name: str) -> float | None:
        try:
            return float(json.loads(self.places.timing(name).read_bytes())["seconds"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _why_lost(self, stage: Stage) -> str | None:
        """Why a stage could not be made again to the same bytes: for its own sake, or for that of one that it reads."""
        if stage.name not in self._lost:
            read = [self.plan.stage(name) for name in dict.fromkeys(stage.inputs.values())]
            gone = [parent for parent in read if self._would_be_gone(parent)]
            why = self._own_reason(stage)
            told = ((parent.name, self._why_lost(parent)) for parent in gone)
            self._lost[stage.name] = why or next((f"{name}: {said}" for name, said in told if said is not None), None)
        return self._lost[stage.name]

    def _would_be_gone(self, stage: Stage) -> bool:
        return self.everything or stage.kind == "train" or not self.places.artifact(stage.name).is_dir()

    def _own_reason(self, stage: Stage) -> str | None:
        status = self._statuses.get(stage.name)
        if status is None:
            return f"it cannot be planned today: {self.standing.problem}"
        if status.state in ("stale", "new"):
            return status.reasons[-1]
        if stage.kind in ("data", "encoder") and stage.name in self._unobtainable:
            return self._unobtainable[stage.name]
        record = read_stage_record(self.places, stage.name)
        if record is None:
            return "there is no record of it"
        return _elsewhere(record["environment"]) if stage.kind in _COMPUTES else None

    @cached_property
    def _statuses(self) -> dict[str, StageStatus]:
        return {status.stage.name: status for status in self.standing.stages}

    @cached_property
    def _unobtainable(self) -> dict[str, str]:
        """Stages of data and encoders -> why this machine could not make them."""
        assert self.standing.planned is not None
        needs = self.standing.planned.loaded.needs
        found: dict[str, str] = {}
        machine = Machine(self.store.project, lambda: None, lambda _: None)
        for card in needs.data:
            for error in machine.lacks(replace(needs, data=(card,), encoder=None, device="cpu")):
                found.setdefault(f"data-{card.name}", error.message)
        for error in machine.lacks(replace(needs, data=(), device="cpu")):
            assert needs.encoder is not None
            found.setdefault(f"import-{needs.encoder.name}", error.message)
        return found


def _elsewhere(recorded: Mapping[str, Any]) -> str | None:
    """Whether the platform that made something is another than this one, which might make other bits."""
    now = environment(recorded.get("threads"))
    differ = sorted(key for key in recorded.keys() | now.keys() if recorded.get(key) != now.get(key))
    named = [key for key in differ if key not in _ELSEWHERE]
    return f"it was made on another platform ({', '.join(named)})" if named else None


def disk_use(store: Store, places: RunPlaces) -> int:
    """Bytes that a run holds: its folder, and what of DVC's cache its artifacts name, other runs' or not."""
    folders = [folder for folder in store.trees if folder.parent.parent == places.base]
    cached = {path for folder in folders for path in store.objects(folder).values()}
    return size(places.base) + sum(map(size, cached))
