"""Checks of the tasks that an analysis names: one that does not exist would not be missed, but silently left out."""

from __future__ import annotations

from collections.abc import Iterator

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import shorten


def check_named_tasks(analysis: Node, node: Node, *, listed: bool) -> Iterator[SpecError]:
    """Keys of `further_scores` and, if they are not checked elsewhere (`listed`), the names under `tasks`."""
    tasks = tuple(node.children("tasks"))
    named = [(key, said.key or said.place) for key, said in analysis.children("further_scores").items()]
    if listed:
        named += [(item.value, item.place) for item in analysis.items("tasks") if isinstance(item.value, str)]
    for name, place in dict(named).items() if tasks else ():
        if name not in tasks:
            yield SpecError("E956", f"there is no task '{shorten(name)}'", place, did_you_mean(name, tasks))
