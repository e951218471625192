"""Who reads how much of a trained model, and how much of it a spec keeps: what decides when weights may be freed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mtlspec.kinds import options_class
from mtlspec.plan.types import Plan
from mtlspec.spec.families import ANALYSES, AnalysisOptions, Keep, MeasuringOptions

TRAINING = "train-"  # stages that train a model are called so
_MORE = ("scores", "gates", "weights")


def suffices(there: Keep, wanted: Keep) -> bool:
    """Whether what is there of a model is as much as is wanted."""
    return _MORE.index(there) >= _MORE.index(wanted)


def reads(kind: str, params: Mapping[str, Any], inputs: Iterable[str]) -> dict[str, Keep]:
    """Trainings among the inputs of a stage (names of stages) -> how much of the model it reads."""
    read = _read(kind, params)
    return {name: read for name in inputs if name.startswith(TRAINING)}


def _read(kind: str, params: Mapping[str, Any]) -> Keep:
    if kind in ("train", "evaluate"):  # others start or learn from it
        return "weights"
    if kind not in ("measure", "analyse"):
        return "scores"
    options = options_class(ANALYSES, params["options"]["type"])
    assert issubclass(options, AnalysisOptions)
    if "train" not in options.needs or (kind == "analyse" and issubclass(options, MeasuringOptions)):
        return "scores"  # how long a model was trained; its measurement tells the rest
    return options.reads_of_models


def readers(plan: Plan) -> dict[str, dict[str, Keep]]:
    """Training -> the stages that read its model, and how much of it.

    A model whose tasks are chosen may be one of those that the choice rests on, which is then taken over.
    """
    found: dict[str, dict[str, Keep]] = {stage.name: {} for stage in plan.stages if stage.kind == "train"}
    for stage in plan.stages:
        own = reads(stage.kind, stage.params, stage.inputs.values())
        if stage.kind == "train" and "select" in stage.inputs:
            behind = plan.stage(stage.inputs["select"]).inputs.values()
            own |= dict.fromkeys((f"{TRAINING}{name.removeprefix('evaluate-')}" for name in behind), "weights")
        for name, read in own.items():
            found[name][stage.name] = read
    return found


def kept(plan: Plan) -> dict[str, Keep]:
    """Training -> how much of its model the spec keeps."""
    groups = next(stage.params["spec"]["models"] for stage in plan.stages if stage.kind == "report")
    return {
        stage.name: groups[stage.params["group"]].get("keep", "weights")
        for stage in plan.stages
        if stage.kind == "train"
    }
