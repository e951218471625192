"""How long and how large: from what ran here before. A machine and an encoder that never met get no number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mtlspec.execute.pipelines import materialised_runs
from mtlspec.io.project import Project, RunPlaces
from mtlspec.plan.dvc import read_stage_file
from mtlspec.plan.foundation import pretrains
from mtlspec.plan.types import Plan

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


@dataclass(frozen=True)
class Estimate:
    """What a stage will take. `source`: its own last run, stages like it, the defaults, or nothing (no numbers)."""

    seconds: float | None
    megabytes: float | None
    source: Literal["own", "alike", "default", "nothing"]


@dataclass(frozen=True)
class _Sample:
    """A stage that ran here. Those alike do the same sort of work on the same corpora with the same encoder."""

    alike: tuple[str, ...]
    work: float
    seconds: float
    megabytes: float | None


def estimates(project: Project, plan: Plan) -> dict[str, Estimate]:
    """A stage's own last run, scaled to its work; else the rate of stages alike, here or of other specs; else defaults.

    Call before `Materialised.write`: the old stage files tell what was timed.
    """
    own = _samples(project.run(plan.spec))
    everywhere = [own, *(_samples(run) for run in materialised_runs(project) if run.spec_name != plan.spec)]
    pools: dict[tuple[str, ...], list[_Sample]] = {}
    for sample in (sample for samples in everywhere for sample in samples.values()):
        for pool in dict.fromkeys((sample.alike, _widened(sample.alike))):
            pools.setdefault(pool, []).append(sample)
    ground = _ground(stage.name for stage in plan.stages)
    default = _has_defaults(plan)
    result = {}
    for stage in plan.stages:
        alike = _alike(stage.kind, stage.name, stage.params, stage.inputs, ground)
        work = _work(stage.kind, stage.params)
        last = own.get(stage.name)
        others = pools.get(alike) or pools.get(_widened(alike), [])
        if last is not None and last.alike == alike:
            result[stage.name] = Estimate(last.seconds * work / last.work, last.megabytes or _size_of(others), "own")
        elif others:
            rate = sum(sample.seconds for sample in others) / sum(sample.work for sample in others)
            result[stage.name] = Estimate(rate * work, _size_of(others), "alike")
        elif default:
            result[stage.name] = Estimate(_SECONDS[stage.kind] * work, _MEGABYTES[stage.kind], "default")
        else:
            result[stage.name] = Estimate(None, None, "nothing")
    return result


def wall_seconds(times: Sequence[float], workers: int) -> float:
    """A lower bound that is close in practice: all work spread over the workers, or the longest stage."""
    return max(sum(times) / max(workers, 1), max(times, default=0.0))


def _size_of(samples: Sequence[_Sample]) -> float | None:
    sizes = [sample.megabytes for sample in samples if sample.megabytes is not None]
    return sum(sizes) / len(sizes) if sizes else None


def _samples(places: RunPlaces) -> dict[str, _Sample]:
    """The stages of a run that were timed on this machine."""
    timed = {path.stem: path for path in places.base.joinpath("timings").glob("*.json")}
    ground = _ground(path.stem for path in places.base.joinpath("stages").glob("prepare-*.json"))
    found = {}
    for name in timed:
        try:
            seconds = float(json.loads(timed[name].read_bytes())["seconds"])
            kind, params, inputs, _ = read_stage_file(json.loads(places.params(name).read_bytes()))
            alike = _alike(kind, name, params, inputs, ground)
            found[name] = _Sample(alike, _work(kind, params), seconds, _size(places, name))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def _alike(kind: str, name: str, params: Mapping[str, Any], inputs: Mapping[str, str], ground: str) -> tuple[str, ...]:
    """Equal for stages whose times tell of each other."""
    if kind in ("data", "encoder", "prepare"):
        return (kind, name)  # named after corpus and encoder
    prepared = _ground(inputs.values()) or ground
    sort = str(params.get("options", {}).get("type", "")) if kind in ("measure", "analyse") else ""
    return (kind, sort, prepared)


def _widened(alike: tuple[str, ...]) -> tuple[str, ...]:
    """An analysis that never ran takes about as long as others."""
    return (alike[0], "any", alike[2]) if alike[0] in ("measure", "analyse") else alike


def _ground(names: Iterable[str]) -> str:
    """The prepared corpora among these stages, which are named after corpus and encoder."""
    return " ".join(sorted({name for name in names if name.startswith("prepare-")}))


def _work(kind: str, params: Mapping[str, Any]) -> float:
    return float(max(len(params["tasks"]), 1) * params["train"]["epochs"]) if kind == "train" else 1.0


def _has_defaults(plan: Plan) -> bool:
    generated = any(stage.kind == "data" and stage.params["card"].get("generator") for stage in plan.stages)
    return generated and any(map(pretrains, plan.stages))


def _size(places: RunPlaces, name: str) -> float | None:
    folder = places.artifact(name)
    if not folder.is_dir():
        return None
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6 or None
