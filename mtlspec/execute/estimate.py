"""How long and how large: from what ran here before. A machine and an encoder that never met get no number."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from mtlspec.io.project import RunPlaces
from mtlspec.plan.types import Plan, Stage

Estimates = dict[str, float | None]  # stage -> a number, or None: nothing like it has run here yet

# Of the generated corpus with an encoder that learns from it; they say nothing of other data and other encoders.
_SECONDS: Mapping[str, float] = {
    "data": 3.0,
    "encoder": 75.0,
    "prepare": 3.0,
    "select": 0.5,
    "train": 6.0,  # per task and epoch
    "evaluate": 2.0,
    "measure": 3.0,
    "analyse": 3.0,
    "report": 4.0,
}
_MEGABYTES: Mapping[str, float] = {
    "data": 3.0,
    "encoder": 5.0,
    "prepare": 3.0,
    "select": 0.01,
    "train": 5.0,
    "evaluate": 1.0,
    "measure": 0.2,
    "analyse": 1.0,
    "report": 2.0,
}


def seconds(plan: Plan, places: RunPlaces) -> Estimates:
    """Expected seconds: a stage's own last time, else the rate of timed stages of its kind, else a default rate."""
    timed = _of_this_data(plan, {stage.name: _timing(places, stage.name) for stage in plan.stages})
    rates: dict[str, float | None] = {}
    for kind, default in _defaults(plan, _SECONDS).items():
        known = [stage for stage in plan.stages if stage.kind == kind and stage.name in timed]
        work = sum(_work(stage) for stage in known)
        rates[kind] = sum(timed[stage.name] for stage in known) / work if work else default
    return {stage.name: timed.get(stage.name, _times(rates[stage.kind], _work(stage))) for stage in plan.stages}


def megabytes(plan: Plan, places: RunPlaces) -> Estimates:
    """Expected size of an artifact: its present size, else that of its kind, else a default."""
    sizes = _of_this_data(plan, {stage.name: _size(places, stage.name) for stage in plan.stages})
    means: dict[str, float | None] = {}
    for kind, default in _defaults(plan, _MEGABYTES).items():
        known = [sizes[stage.name] for stage in plan.stages if stage.kind == kind and stage.name in sizes]
        means[kind] = sum(known) / len(known) if known else default
    return {stage.name: sizes.get(stage.name, means[stage.kind]) for stage in plan.stages}


def wall_seconds(times: Sequence[float], workers: int) -> float:
    """A lower bound that is close in practice: all work spread over the workers, or the longest stage."""
    return max(sum(times) / max(workers, 1), max(times, default=0.0))


def _work(stage: Stage) -> float:
    if stage.kind != "train":
        return 1.0
    return float(len(stage.params["tasks"]) * stage.params["train"]["epochs"])


def _times(rate: float | None, work: float) -> float | None:
    return None if rate is None else rate * work


def _defaults(plan: Plan, numbers: Mapping[str, float]) -> Mapping[str, float | None]:
    generated = any(stage.kind == "data" and stage.params["card"].get("generator") for stage in plan.stages)
    learnt = any(stage.kind == "encoder" and "data_card" in stage.params for stage in plan.stages)
    return numbers if generated and learnt else dict.fromkeys(numbers)


def _of_this_data(plan: Plan, found: Mapping[str, float | None]) -> dict[str, float]:
    """What is known, without what is left of models of another corpus or encoder.

    Those have the same names; only the stages before them are named after corpus and encoder.
    """
    known = {name: value for name, value in found.items() if value is not None}
    prepared = all(stage.name in known for stage in plan.stages if stage.kind == "prepare")
    before = {stage.name for stage in plan.stages if stage.kind in ("data", "encoder", "prepare")}
    return known if prepared else {name: value for name, value in known.items() if name in before}


def _timing(places: RunPlaces, name: str) -> float | None:
    try:
        return float(json.loads(places.timing(name).read_bytes())["seconds"])
    except (FileNotFoundError, ValueError, KeyError):
        return None


def _size(places: RunPlaces, name: str) -> float | None:
    folder = places.artifact(name)
    if not folder.is_dir():
        return None
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6 or None
