"""Checks of options that map tasks to something: a weight for a task that does not exist would have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mtlspec.errors import Place, SpecError, did_you_mean
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import shorten

_LENDS = "to lend scores to"  # the value is a task, too
_KEYED = (("balance", "static", "weights", "to weigh"), ("sampler", "mt_uncertainty", "proxy", _LENDS))
"""A part of `train`, its type, the option that maps tasks to something, and what for."""


def check_weights(train: Node, tasks: Sequence[str]) -> Iterator[SpecError]:
    """Keys that are no task, in the options of a `train`; what is said for all models is told once, by its place."""
    for key, said, purpose in _task_keys(train):
        if tasks and key not in tasks:
            message = f"there is no task '{shorten(key)}' {purpose}"
            yield SpecError("E176", message, said.key or said.place, did_you_mean(key, tasks))
        if purpose != _LENDS or not isinstance(said.value, str):
            continue
        if tasks and said.value not in tasks:
            message = f"there is no task '{shorten(said.value)}' to lend scores to '{shorten(key)}'"
            yield SpecError("E176", message, said.place, did_you_mean(said.value, tasks))
        elif said.value == key:
            yield SpecError("E176", f"'{shorten(key)}' cannot lend scores to itself", said.place, "name another task")


def swept_train(key: str, value: Node, key_place: Place) -> Node:
    """The part of a `train` that a value of the sweep over `train.x.y` stands for."""
    node = Node(value.value, value.place, key_place)
    for part in reversed(key.split(".")[1:]):
        node = Node({part: node}, key_place, key_place)
    return node


def _task_keys(train: Node) -> Iterator[tuple[str, Node, str]]:
    for part, kind, option, purpose in _KEYED:
        said = train.child(part)
        type_ = said.child("type") if said is not None else None
        if said is not None and (type_ is None or type_.value == kind):
            yield from ((key, node, purpose) for key, node in said.children(option).items())
