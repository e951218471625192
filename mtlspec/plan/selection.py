"""The `select` stages of a plan: which evaluations decide what a model learns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mtlspec.plan.types import Stage
from mtlspec.spec.expand import Choice, ModelVariant
from mtlspec.spec.models import ExperimentSpec
from mtlspec.spec.selected import SelectedTaskSet


def select_stage(choice: Choice) -> str:
    """The name of the stage that decides."""
    return f"select-{choice.name}"


def select_params(variant: ModelVariant, choice: Choice, variants: Mapping[str, ModelVariant]) -> dict[str, Any]:
    """What the stage is told: the rule, the tasks that are known, and the models whose evaluations it reads."""
    read = [variants[name] for name in choice.reads]
    models = [
        {"group": v.group, "tasks": list(v.tasks), "seed": v.seed, "evaluate": f"evaluate-{v.name}"} for v in read
    ]
    options = choice.options.model_dump(mode="json")
    return {"group": variant.group, "options": options, "known": list(variant.tasks), "models": models}


def select_inputs(choice: Choice) -> dict[str, str]:
    return {f"evaluate-{name}": f"evaluate-{name}" for name in choice.reads}


def selected_sets(spec: ExperimentSpec) -> list[SelectedTaskSet]:
    """The kinds of choice in a spec: the report makes the choices again, to show what they rest on."""
    sets = (group.task_set for group in spec.models.values())
    return [options for options in sets if isinstance(options, SelectedTaskSet)]


def report_selections(stages: Iterable[Stage]) -> list[dict[str, Any]]:
    """What the report is told of the `select` stages."""
    return [{"stage": stage.name, **stage.params} for stage in stages if stage.kind == "select"]
