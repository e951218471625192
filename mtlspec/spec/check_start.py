"""Checks of `start`: the group that a group's models start from must have a model for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.io.digest import canonical_json
from mtlspec.spec.expand import start_tasks
from mtlspec.spec.models import ModelGroup, Start
from mtlspec.spec.nodes import Node
from mtlspec.spec.selected import SelectedTaskSet
from mtlspec.spec.words import shorten


def check_start(
    name: str,
    groups: Mapping[str, ModelGroup],
    tasks: Sequence[str],
    model: Node,
    swept: Sequence[str],
    said: Sequence[str],
) -> Iterator[SpecError]:
    """`swept` are the sweep keys of the whole spec, which every group shares; `said` are the groups that it names."""
    group = groups[name]
    start = group.starts_from
    if start is None:
        return
    place = model.near(("start", "group")).place
    above = groups_above(name, groups)
    if start.group in said[: said.index(name)] and start.group not in groups:
        return  # what is wrong with that group is told elsewhere
    if start.group not in above:
        message = f"there is no model group '{shorten(start.group)}' above '{name}' to start from"
        yield SpecError("E181", message, place, did_you_mean(start.group, above))
        return
    source = groups[start.group]
    yield from _check_tasks(name, group, start, source, tasks, model)
    yield from check_swept(
        "E183",
        f"which of its models does '{name}' start from?",
        start.group,
        source,
        group,
        swept,
        model.near(("start",)),
    )


def groups_above(name: str, groups: Mapping[str, ModelGroup]) -> list[str]:
    """The sound groups before one, in the spec's order."""
    return list(groups)[: list(groups).index(name)]


def check_swept(
    code: str, question: str, read: str, source: ModelGroup, group: ModelGroup, swept: Sequence[str], said: Node
) -> Iterator[SpecError]:
    """A group whose models are read must be swept over the same values, or over none."""
    for key, values in source.sweep.items():
        own = {canonical_json(value) for value in group.sweep.get(key, ())}
        if key not in swept and not (own and own <= {canonical_json(value) for value in values}):
            message = f"'{read}' is swept over '{shorten(key)}': {question}"
            yield SpecError(code, message, said.place, "sweep both groups over the same values, or name another one")


def _check_tasks(
    name: str, group: ModelGroup, start: Start, source: ModelGroup, tasks: Sequence[str], model: Node
) -> Iterator[SpecError]:
    """Every model must find the one it starts from, and what it takes over must fit its tasks."""
    place = model.near(("start", "tasks")).place
    known = [names for _, names in source.task_set.sets(tasks)]
    selected = [
        one for one, each in ((name, group), (start.group, source)) if isinstance(each.task_set, SelectedTaskSet)
    ]
    if start.take == "all" and selected:
        message = f"the tasks of '{selected[0]}' are chosen while the study runs, so decoders cannot be taken over"
        yield SpecError("E188", message, place, f"write `start: {{group: {start.group}, take: encoder}}`")
        return
    for _, names in group.task_set.sets(tasks):
        found = start_tasks(start, names, known)
        if found is not None and (start.take != "all" or set(found) == set(names)):
            continue
        wanted = start.tasks if start.tasks is not None and found is None else names
        message = f"'{start.group}' has no model of {' + '.join(wanted)} for '{name}' to start from"
        hint = "`take: encoder` starts from a model of other tasks"
        if start.take != "all":
            hint = "say which one with `tasks`: " + ", ".join(f"[{', '.join(each)}]" for each in known[:4])
        yield SpecError("E182", message, place, hint)
        return
