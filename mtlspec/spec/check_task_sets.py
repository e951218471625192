"""Checks of task sets: tasks that exist, sets that can be formed, and evaluations that a choice can rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import TypeAdapter, ValidationError

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.kinds import OneOf
from mtlspec.spec.check_start import check_swept, groups_above
from mtlspec.spec.families import TASK_SETS, TaskSetOptions
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.selected import SelectedTaskSet
from mtlspec.spec.words import shorten

_TASK_SET: TypeAdapter[TaskSetOptions] = TypeAdapter(Annotated[TaskSetOptions, OneOf(TASK_SETS)])


def check_task_set(model: Node, tasks: Sequence[str]) -> Iterator[SpecError]:
    """Names of tasks that do not exist or stand twice, and task sets that these tasks cannot form."""
    wanted = model.child("tasks")
    if wanted is None:
        return
    if not isinstance(wanted.value, list):
        try:
            problem = _TASK_SET.validate_python(wanted.plain()).problem(tasks)
        except ValidationError:
            return
        if problem is not None:
            yield SpecError("E156", problem, wanted.place)
    names = wanted if isinstance(wanted.value, list) else wanted.child("names")
    if names is not None and names.value == []:
        yield SpecError("E157", "the list of tasks is empty", names.place, "name tasks, or write `all`")
    seen = set()
    for item in names.items() if names is not None else ():
        if not isinstance(item.value, str):
            continue
        if item.value not in tasks:
            message = f"there is no task '{shorten(item.value)}'"
            yield SpecError("E158", message, item.place, did_you_mean(item.value, tasks))
        elif item.value in seen:
            yield SpecError("E159", f"the task '{item.value}' is named twice", item.place)
        seen.add(item.value)


def check_choice(
    name: str,
    groups: Mapping[str, ModelGroup],
    tasks: Sequence[str],
    model: Node,
    swept: Sequence[str],
    seeds: Sequence[int],
) -> Iterator[SpecError]:
    """What a selected task set reads must stand above it; `swept` and `seeds` are those of the whole spec."""
    options = groups[name].task_set
    if not isinstance(options, SelectedTaskSet) or options.problem(tasks) is not None:
        return
    said = model.near(("tasks",))
    if len(groups[name].seeds_among(seeds)) < options.least_seeds:
        whose = "the spec" if groups[name].seeds is None else f"'{name}'"
        yield _too_few(options, whose, len(groups[name].seeds_among(seeds)), said)
    reads = [read for _, known in options.sets(tasks) for read in options.reads(known, tasks)]
    above = groups_above(name, groups)
    for group in dict.fromkeys(group for group, _ in reads):
        place = next((child for child in said.children().values() if child.value == group), said)
        if group not in above:
            message = f"there is no model group '{shorten(group)}' above '{name}' to choose tasks from"
            yield SpecError("E178", message, place.place, did_you_mean(group, above))
            continue
        source = groups[group]
        known_seeds = len(source.seeds_among(seeds))
        if known_seeds < options.least_seeds <= len(groups[name].seeds_among(seeds)):
            yield _too_few(options, f"'{group}', from which '{name}' chooses,", known_seeds, place)
        missing = _missing([names for other, names in reads if other == group], source, tasks)
        if missing is not None:
            message = f"'{group}' has no model of {missing}, from which the tasks of '{name}' are chosen"
            yield SpecError("E179", message, place.place)
        question = f"from which of its models are the tasks of '{name}' chosen?"
        yield from check_swept("E199", question, group, source, groups[name], swept, place)


def _too_few(options: SelectedTaskSet, whose: str, seeds: int, said: Node) -> SpecError:
    message = f"'{options.type}' needs at least {options.least_seeds} seeds, and {whose} has {seeds}"
    return SpecError("E177", message, said.place)


def _missing(wanted: Sequence[frozenset[str]], source: ModelGroup, tasks: Sequence[str]) -> str | None:
    """The first task set that a group lacks; one whose tasks are chosen too has none that is certain."""
    certain = not isinstance(source.task_set, SelectedTaskSet)
    known = {frozenset(names) for _, names in source.task_set.sets(tasks)} if certain else set()
    missing = next((names for names in wanted if names not in known), None)
    return None if missing is None else " + ".join(task for task in tasks if task in missing)
