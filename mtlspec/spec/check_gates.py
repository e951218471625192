"""Checks of analyses that read head gates: their models must have them, and be of enough tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from mtlspec.errors import SpecError
from mtlspec.spec.demands import Demanding
from mtlspec.spec.expand import vary
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.selected import SelectedTaskSet


def check_gates(
    analysis: Node, options: Demanding, node: Node, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; of the others nothing is said here."""
    tasks = tuple(node.children("tasks"))
    models = [name for name in options.models or node.children("models") if name in node.children("models")]
    if not models or not all(name in groups for name in models):
        return
    learnt = {name: _tasks_learnt(groups[name], tasks, single=options.single_task) for name in models}
    yield from _check_number_of_tasks(analysis, options, {task for own in learnt.values() for task in own})
    used = [name for name in models if learnt[name]]
    swept = node.get("sweep", "sharing")
    shared = [item.plain() for item in swept.items()] if swept is not None else []
    gated = {name: _gated(groups[name], shared) for name in used}
    needed = options.gates_needed()
    if needed == "all":
        yield from _check_every_group(analysis, gated)
    elif needed == "some" and gated and all(found == {False} for found in gated.values()):
        place = (analysis.child("models") or analysis).place
        yield SpecError("E194", "no model group of this analysis has head gates", place, "add one with `sharing: l0`")


def _tasks_learnt(group: ModelGroup, tasks: Sequence[str], *, single: bool) -> set[str]:
    """The tasks of a group's models; with `single` of those models that learn one task only."""
    if single and isinstance(group.task_set, SelectedTaskSet):
        return set()  # whether a model learns one task only is decided while the study runs
    sets = [names for _, names in group.task_set.sets(tasks)]
    return {task for names in sets if len(names) == 1 or not single for task in names}


def _gated(group: ModelGroup, shared: Sequence[Any]) -> set[bool]:
    """Whether its models have gates: both, if it is swept over `sharing`; empty if that sweep is unsound."""
    swept = group.sweep.get("sharing", shared)
    try:
        found = {vary(group, [("sharing", value)]).sharing.gates_heads for value in swept}
        return found or {group.sharing.gates_heads}
    except ValidationError:
        return set()


def _check_every_group(analysis: Node, gated: Mapping[str, set[bool]]) -> Iterator[SpecError]:
    sound = [name for name, found in gated.items() if found == {True}]
    hint = f"name groups that have them under `models`: {', '.join(sound)}" if sound else "give them `sharing: l0`"
    said = {str(item.value): item for item in analysis.items("models")}
    for name, found in gated.items():
        if False in found:
            some = "some models" if True in found else "the models"
            message = f"{some} of group '{name}' have no head gates, which this analysis reads"
            yield SpecError("E196", message, said.get(name, analysis).place, hint)
            if name not in said:
                return  # the spec names no groups: one line is enough


def _check_number_of_tasks(analysis: Node, options: Demanding, learnt: set[str]) -> Iterator[SpecError]:
    if options.least_tasks is None:
        return
    least = int(getattr(options, options.least_tasks))
    if len(learnt) < least:
        found = f"{len(learnt) or 'no'} {'task has' if len(learnt) == 1 else 'tasks have'}"
        one = "single-task models" if options.single_task else "models"
        message = f"'{options.least_tasks}' is {least}, but {found} {one} in this analysis"
        hint = f"add groups of such models to `models`, or lower `{options.least_tasks}`"
        yield SpecError("E197", message, (analysis.child(options.least_tasks) or analysis).place, hint)
