"""Checks of analyses that tell some tasks apart: a model of theirs must learn two of these together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import SpecError
from mtlspec.spec.expand import possible_sets
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.several_tasks import SeveralTasks


def check_told_apart(
    analysis: Node, options: SeveralTasks, node: Node, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; tasks that there are not are told of elsewhere."""
    tasks, models = tuple(node.children("tasks")), options.models or tuple(node.children("models"))
    named = {item.value for item in analysis.items("tasks")}
    if len(named) < 2 or not named <= set(tasks) or not all(name in groups for name in models):
        return
    sets = [set(names) for name in models for names in possible_sets(groups[name], tasks) if len(names) > 1]
    if sets and not any(len(named & names) > 1 for names in sets):
        message = "no model of this analysis learns two of these tasks together"
        learnt = ", ".join(task for task in tasks if any(task in names for names in sets))
        place = analysis.near(("tasks",)).place
        yield SpecError("E992", message, place, f"its models of several tasks learn: {learnt}")
