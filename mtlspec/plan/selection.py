"""The `select` stages of a plan: which evaluations decide what a model learns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mtlspec.spec.expand import Choice, ModelVariant


def select_stage(choice: Choice) -> str:
    """The name of the stage that decides."""
    return f"select-{choice.name}"


def select_params(variant: ModelVariant, choice: Choice, variants: Mapping[str, ModelVariant]) -> dict[str, Any]:
    """What the stage is told: the rule, the tasks that are known, and the models whose evaluations it reads."""
    read = [variants[name] for name in choice.reads]
    models = [
        {"group": v.group, "tasks": list(v.tasks), "seed": v.seed, "evaluate": f"evaluate-{v.name}"} for v in read
    ]
    return {"options": choice.options.model_dump(mode="json"), "known": list(variant.tasks), "models": models}


def select_inputs(choice: Choice) -> dict[str, str]:
    return {f"evaluate-{name}": f"evaluate-{name}" for name in choice.reads}
