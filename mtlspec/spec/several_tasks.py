"""Analyses that tell the tasks of a model apart: some of their models must learn several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.families import AnalysisOptions
from mtlspec.spec.nodes import Node
from mtlspec.spec.selected import SelectedTaskSet
from mtlspec.spec.words import shorten

if TYPE_CHECKING:
    from mtlspec.spec.models import ModelGroup  # which loads all kinds, and kinds of this family import this file


class SeveralTasks(AnalysisOptions):
    """An analysis of models of several tasks; those of one task are passed over."""


def check_several_tasks(
    analysis: Node, options: SeveralTasks, node: Node, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; of the others nothing is said here."""
    yield from _check_named(analysis, tuple(node.children("tasks")))
    models = options.models or tuple(node.children("models"))
    if not models or not all(name in groups for name in models):
        return
    tasks = tuple(node.children("tasks"))
    if not any(_may_learn_several(groups[name], tasks) for name in models):
        place = (analysis.child("models") or analysis).place
        message = "every model of this analysis learns one task, and it tells the tasks of a model apart"
        yield SpecError("E953", message, place, "name a group with `tasks: all` or `tasks: pairs`")


def _check_named(analysis: Node, tasks: tuple[str, ...]) -> Iterator[SpecError]:
    """Of analyses that can be asked about some tasks only."""
    named = {item.value: item.place for item in analysis.items("tasks") if isinstance(item.value, str)}
    for name, place in named.items():
        if tasks and name not in tasks:
            yield SpecError("E956", f"there is no task '{shorten(name)}'", place, did_you_mean(name, tasks))
    if len(named) == 1:
        (place,) = named.values()
        yield SpecError("E957", "one task cannot be told from others", place, "name two at least")


def _may_learn_several(group: ModelGroup, tasks: tuple[str, ...]) -> bool:
    chosen_later = isinstance(group.task_set, SelectedTaskSet)
    return chosen_later or any(len(names) > 1 for _, names in group.task_set.sets(tasks))
