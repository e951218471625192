"""Checks of `start`: the group that a group's models start from must have a model for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.io.digest import canonical_json
from mtlspec.spec.expand import task_sets
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import shorten


def check_start(
    name: str, groups: Mapping[str, ModelGroup], tasks: Sequence[str], model: Node, swept: Sequence[str]
) -> Iterator[SpecError]:
    """`swept` are the sweep keys of the whole spec, which every group shares."""
    group = groups[name]
    problem = group.sharing.problem(group.start is not None)
    if problem is not None:
        named = [said for key, said in model.children("sharing").items() if f"`{key}: {said.value}`" in problem]
        place = (named or [model.near(("sharing",))])[0].place
        yield SpecError("E180", f"the sharing of model '{name}' does not work: {problem}", place)
    if group.start is None:
        return
    place = model.near(("start",)).place
    above = [other for other in groups if other in list(groups)[: list(groups).index(name)]]
    if group.start not in above:
        message = f"there is no model group '{shorten(group.start)}' above '{name}' to start from"
        yield SpecError("E181", message, place, did_you_mean(group.start, above))
        return
    source = groups[group.start]
    known = {names for _, names in task_sets(source.tasks, tasks)}
    missing = next((names for _, names in task_sets(group.tasks, tasks) if names not in known), None)
    if missing is not None:
        message = f"'{group.start}' has no model of {' + '.join(missing)} for '{name}' to start from"
        yield SpecError("E182", message, place)
    for key, values in source.sweep.items():
        own = {canonical_json(value) for value in group.sweep.get(key, ())}
        if key not in swept and not (own and own <= {canonical_json(value) for value in values}):
            message = f"'{group.start}' is swept over '{shorten(key)}': which of its models does '{name}' start from?"
            yield SpecError("E183", message, place, "sweep both groups over the same values, or start from another one")
