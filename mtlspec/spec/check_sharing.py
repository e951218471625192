"""Checks of sharing strategies, those of sweeps included: each must work with how its models start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

from pydantic import ValidationError

from mtlspec.errors import Place, SpecError
from mtlspec.spec.expand import vary
from mtlspec.spec.families import SharingOptions
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node

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
    for name, group in groups.items():
        for shared in sharings(node, name, group):
            problem = shared.options.problem(group.starts_from is not None)
            place = shared.blamed(problem).place if problem is not None else None
            if problem is None or place is None or (place, problem) in seen:
                continue
            seen.add((place, problem))  # a sweep of the whole spec is wrong once, not once a group
            yield SpecError("E180", f"the sharing of model '{name}' does not work: {problem}", place)
