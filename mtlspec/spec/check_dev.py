"""Checks of `train.dev: last`: what looks at the dev scores of other epochs does not go with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import Place, SpecError
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node


def check_dev(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; what is said for all models is wrong once."""
    told: set[Place] = set()
    for name, group in groups.items():
        train, said = group.train, node.near(("models", name, "train", "dev"))
        if train.dev == "every" or said.place in told:
            continue
        wants = "`keep: best`" if train.keep == "best" else "`plateau`" if train.plateau is not None else None
        if wants is not None:
            told.add(said.place)
            message = f"`dev: last` scores no epoch but the last, and {wants} of model '{name}' goes by all"
            yield SpecError("E879", message, said.place, "write `keep: last`, without `plateau`")
