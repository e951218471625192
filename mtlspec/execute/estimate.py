"""How long and how large: from earlier timings where there are some, otherwise from the amount of work."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from mtlspec.io.project import RunPlaces
from mtlspec.plan.types import Plan, Stage

_SECONDS: Mapping[str, float] = {
    "data": 3.0,
    "encoder": 75.0,
    "prepare": 3.0,
    "train": 6.0,  # per task and epoch of the embedded corpus with the tiny encoder
    "evaluate": 2.0,
    "measure": 3.0,
    "analyse": 3.0,
    "report": 4.0,
}
_MEGABYTES: Mapping[str, float] = {
    "data": 3.0,
    "encoder": 5.0,
    "prepare": 3.0,
    "train": 5.0,
    "evaluate": 1.0,
    "measure": 0.2,
    "analyse": 1.0,
    "report": 2.0,
}


def seconds(plan: Plan, places: RunPlaces) -> dict[str, float]:
    """Stage -> expected seconds: its own last time, else the rate of timed stages of its kind, else a default rate."""
    timed = {stage.name: time for stage in plan.stages if (time := _timing(places, stage.name)) is not None}
    rates: dict[str, float] = {}
    for kind in _SECONDS:
        known = [stage for stage in plan.stages if stage.kind == kind and stage.name in timed]
        work = sum(_work(stage) for stage in known)
        rates[kind] = sum(timed[stage.name] for stage in known) / work if work else _SECONDS[kind]
    return {stage.name: timed.get(stage.name, rates[stage.kind] * _work(stage)) for stage in plan.stages}


def megabytes(plan: Plan, places: RunPlaces) -> dict[str, float]:
    """Stage -> expected size of its artifact: its present size, else that of its kind, else a default."""
    sizes = {stage.name: size for stage in plan.stages if (size := _size(places, stage.name)) > 0}
    means: dict[str, float] = {}
    for kind in _MEGABYTES:
        known = [sizes[stage.name] for stage in plan.stages if stage.kind == kind and stage.name in sizes]
        means[kind] = sum(known) / len(known) if known else _MEGABYTES[kind]
    return {stage.name: sizes.get(stage.name, means[stage.kind]) for stage in plan.stages}


def wall_seconds(times: Sequence[float], workers: int) -> float:
    """A lower bound that is close in practice: all work spread over the workers, or the longest stage."""
    return max(sum(times) / max(workers, 1), max(times, default=0.0))


def _work(stage: Stage) -> float:
    if stage.kind != "train":
        return 1.0
    return float(len(stage.params["tasks"]) * stage.params["train"]["epochs"])


def _timing(places: RunPlaces, name: str) -> float | None:
    try:
        return float(json.loads(places.timing(name).read_bytes())["seconds"])
    except (FileNotFoundError, ValueError, KeyError):
        return None


def _size(places: RunPlaces, name: str) -> float:
    folder = places.artifact(name)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6 if folder.is_dir() else 0.0
