"""A model whose tasks are chosen while a study runs may turn out to be one that the choice was made from.

Its tasks, settings, seed and data are then those of that model, and so would be every bit of its weights. It is taken
over instead of being trained again. What is left behind is the same either way: `mtlspec verify` trains and compares.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtlspec.io.digest import digest_value
from mtlspec.io.freed import is_freed
from mtlspec.io.manifest import MANIFEST, verify_manifest
from mtlspec.io.project import RunPlaces
from mtlspec.plan.dvc import read_stage_file
from mtlspec.spec.selection import read_selection
from mtlspec.stages.context import StageResult
from mtlspec.track.record import read_stage_record

_NAMES = ("group", "variant", "sweep")  # parameters of a training that name it and decide nothing
_CHOICE = "select"


def take_over(
    places: RunPlaces, params: Mapping[str, Any], inputs: Mapping[str, str], digests: Mapping[str, str], out: Path
) -> StageResult | None:
    """The result of a training that was done before under another name, with its files in `out`; None: train.

    `inputs` are stages by role, `digests` those of their artifacts. Only models that the choice rests on are looked
    at: whoever runs this stage has brought them up to date before.
    """
    same = _same_training(places, params, inputs) if _CHOICE in inputs else None
    record = read_stage_record(places, same) if same is not None else None
    if same is None or record is None or not places.artifact(same).is_dir() or is_freed(places.artifact(same)):
        return None
    if record["inputs"] != {role: digests.get(role) for role in record["inputs"]}:
        return None
    if verify_manifest(places.artifact(same)) != digest_value(record["artifact"]):
        return None
    shutil.copytree(places.artifact(same), out, ignore=shutil.ignore_patterns(MANIFEST), dirs_exist_ok=True)
    return StageResult(scores=record["scores"], facts=record["facts"])


def _same_training(places: RunPlaces, params: Mapping[str, Any], inputs: Mapping[str, str]) -> str | None:
    """The stage that trains the chosen tasks with the same settings, among those behind the choice."""
    chosen = set(read_selection(places.artifact(inputs[_CHOICE])))
    ours = _deciding({**params, "tasks": {name: task for name, task in params["tasks"].items() if name in chosen}})
    for row in _told(places, inputs[_CHOICE])[0]["models"]:
        if set(row["tasks"]) != chosen or row["seed"] != params["seed"]:
            continue
        train = _told(places, row["evaluate"])[1]["train"]
        theirs, their_inputs = _told(places, train)
        starts_alike = inputs.get("start") == their_inputs.get("start")
        if starts_alike and _CHOICE not in their_inputs and _deciding(theirs) == ours:
            return train
    return None


def _deciding(params: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in params.items() if key not in _NAMES}


def _told(places: RunPlaces, stage: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The parameters and inputs of a stage."""
    _, params, inputs, _ = read_stage_file(json.loads(places.params(stage).read_bytes()))
    return params, inputs
