"""Checks of tables of transfer: task sets must tell which rows a group is, and each group has one setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from mtlspec import kinds
from mtlspec.errors import Place, SpecError
from mtlspec.spec.families import ANALYSES, AnalysisOptions
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.selected import SelectedTaskSet

Rows = Literal["pairs", "all", "without", "oracle"]
_SPOKEN: Mapping[Rows, str] = {  # in the order in which the table gives rows to groups
    "pairs": "pairs of tasks",
    "all": "all tasks",
    "without": "all tasks but one",
    "oracle": "tasks that were chosen",
}


class _Group(NamedTuple):
    type: str  # of its task set
    sets: Sequence[frozenset[str]]  # the tasks that are known beforehand
    chosen: bool  # whether others join them by a choice


def check_transfer(
    analysis: Node, options: AnalysisOptions, node: Node, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; of the others nothing is said here."""
    models = options.models or tuple(node.children("models"))
    baseline = getattr(options, "baseline", None)
    if not isinstance(options, kinds.options_class(ANALYSES, "transfer_table")) or baseline not in models:
        return
    if not all(name in groups for name in models):
        return
    tasks = tuple(node.children("tasks"))
    known = {name: _group(groups[name], tasks) for name in models}
    places = {str(item.value): item.place for item in analysis.items("models")}
    whole = (analysis.child("models") or analysis).place
    yield from _check_sweeps(node, models, places, whole)
    alone = frozenset(task for one in known[baseline].sets if len(one) == 1 for task in one)
    if not alone or known[baseline].chosen:
        return  # it is told of elsewhere: there is nothing to compare with
    taken: dict[Rows, str] = {}
    for name, group in known.items():
        fitting = [rows for rows in _SPOKEN if _fits(rows, group, alone)] if name != baseline else []
        rows = next((rows for rows in fitting if rows not in taken), None)
        twin = next((other for other in taken.values() if known[other].type == group.type), None)
        if rows is not None and (twin is None or group.type == "listed"):
            taken[rows] = name
        elif fitting:
            # Of three tasks all pairs are also all but one: a second group of them is of another way of sharing.
            message = f"'{twin or taken[fitting[0]]}' and '{name}' both have models of {_SPOKEN[fitting[0]]}"
            hint = "name the groups of one way of sharing under `models`, and make a table for each way"
            yield SpecError("E995", message, places.get(name, whole), hint)
            return  # further groups of another way of sharing would only repeat it
    if "pairs" not in taken:
        message = "no model group of this table has models of pairs of tasks, and it tells who helps whom in a pair"
        yield SpecError("E996", message, whole, "add a group with `tasks: pairs` to `models`")


def _group(group: ModelGroup, tasks: Sequence[str]) -> _Group:
    sets = [frozenset(names) for _, names in group.task_set.sets(tasks)]
    return _Group(group.task_set.type, sets, isinstance(group.task_set, SelectedTaskSet))


def _fits(rows: Rows, group: _Group, alone: frozenset[str]) -> bool:
    """As `analyses/_transfer/roles.py` has it, which sees the models themselves."""
    if not group.sets:
        return False
    if rows == "oracle":
        return group.chosen and all(len(names) == 1 for names in group.sets)
    size = {"pairs": 2, "all": len(alone), "without": len(alone) - 1}[rows]
    return not group.chosen and size > 1 and all(len(names) == size and names <= alone for names in group.sets)


def _check_sweeps(node: Node, models: Sequence[str], places: Mapping[str, Place], whole: Place) -> Iterator[SpecError]:
    """A group of several settings has several models for every row."""
    for name in models:
        sweep = {**node.children("sweep"), **node.near(("models", name)).children("sweep")}
        if any(len(values.items()) > 1 for values in sweep.values()):
            message = f"'{name}' is swept, and a table of transfer shows one setting of each group"
            yield SpecError("E997", message, places.get(name, whole), "name groups that are not swept under `models`")
