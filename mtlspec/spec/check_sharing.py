"""Checks of sharing strategies, those of sweeps included: each must work with its models' start and tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import Annotated, NamedTuple

from pydantic import TypeAdapter, ValidationError

from mtlspec.errors import Place, SpecError
from mtlspec.kinds import OneOf
from mtlspec.spec.expand import possible_sets, start_tasks, vary
from mtlspec.spec.families import TASKS, SharingOptions, TaskOptions
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node

_TASK: TypeAdapter[TaskOptions] = TypeAdapter(Annotated[TaskOptions, OneOf(TASKS)])
_MOST = 1000  # combinations of a sweep's values that are looked at


class Shared(NamedTuple):
    """A sharing strategy of some models of a group, and what was said of it: the last word first."""

    options: SharingOptions
    said: Sequence[tuple[str, Node]]  # option, or `sharing` itself -> its value

    def blamed(self, problem: str) -> Node:
        """The option that a text names as `key: value`, or the last that was said."""
        parts = [entry for key, node in self.said for entry in ((key, node), *node.children().items())]
        named = (node for key, node in parts if f"`{key}: {node.value}`" in problem)
        return next(named, self.said[0][1])


def sharings(node: Node, name: str, group: ModelGroup) -> Iterator[Shared]:
    """Every sharing of a group's models; values of a sweep that do not fit are told of elsewhere."""
    model = node.near(("models", name))
    swept = {
        key: values.items()
        for key, values in {**node.children("sweep"), **model.children("sweep")}.items()
        if key.partition(".")[0] == "sharing"
    }
    for items in islice(product(*swept.values()), _MOST):
        try:
            varied = vary(group, [(key, item.plain()) for key, item in zip(swept, items, strict=True)])
        except (KeyError, ValidationError):
            continue
        values = [(key.rpartition(".")[2], item) for key, item in zip(swept, items, strict=True)]
        yield Shared(varied.sharing, [*reversed(values), ("sharing", model.near(("sharing",)))])


def check_sharing(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own."""
    seen: set[tuple[Place, str]] = set()
    tasks = sound_tasks(node)
    for name, group in groups.items():
        for shared in sharings(node, name, group):
            options = shared.options
            unlike = _unlike(group, options, groups, tuple(tasks))
            problem = options.problem(group.starts_from is not None) or unlike or _misfit(group, options, tasks)
            place = shared.blamed(problem).place if problem is not None else None
            if problem is not None and problem == unlike:
                place = node.near(("models", name, "start")).place
            if problem is None or place is None or (place, problem) in seen:
                continue
            seen.add((place, problem))  # a sweep of the whole spec is wrong once, not once a group
            yield SpecError("E180", f"the sharing of model '{name}' does not work: {problem}", place)


def _unlike(
    group: ModelGroup, options: SharingOptions, groups: Mapping[str, ModelGroup], tasks: Sequence[str]
) -> str | None:
    """Why a strategy cannot begin as the group's `start` says; a start that there is not is told of elsewhere."""
    start = group.starts_from
    if start is None or start.take != "shared":
        return options.start_problem(None)
    source = groups.get(start.group)
    if source is None:
        return None
    if source.sharing.type != options.type:
        return f"`take: shared` of models of '{start.group}', whose sharing is '{source.sharing.type}'"
    known = possible_sets(source, tasks)
    for names in possible_sets(group, tasks):
        found = start_tasks(start, names, known)
        problem = options.start_problem(found) if found is not None else None
        if problem is not None:
            return problem
    return None


def _misfit(group: ModelGroup, options: SharingOptions, tasks: Mapping[str, TaskOptions]) -> str | None:
    """What is wrong with the first of the group's task sets that the strategy cannot share."""
    if type(options).task_problem is SharingOptions.task_problem:
        return None  # most share any tasks, and there may be thousands of sets
    for names in possible_sets(group, tuple(tasks)):
        problem = options.task_problem({name: tasks[name] for name in names if name in tasks})
        if problem is not None:
            return problem
    return None


def sound_tasks(node: Node) -> dict[str, TaskOptions]:
    """The tasks that are sound on their own; others are told of elsewhere."""
    found: dict[str, TaskOptions] = {}
    for name, task in node.children("tasks").items():
        with suppress(ValidationError, ValueError):
            found[name] = _TASK.validate_python(task.plain())
    return found
