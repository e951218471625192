"""Checks of `train.sampler: mt_uncertainty`: a batch must have room for every task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import Place, SpecError
from mtlspec.spec.expand import possible_sets
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node


def check_sampler(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; what is said for all models is wrong once."""
    told: set[Place] = set()
    tasks = tuple(node.children("tasks"))
    for name, group in groups.items():
        sampler, room = group.train.sampler, group.train.batch.sentences
        most = max((len(names) for names in possible_sets(group, tasks)), default=0)
        place = node.near(("models", name)).near(("train", "sampler")).place
        if sampler.type != "mt_uncertainty" or most <= room or place in told:
            continue
        told.add(place)
        message = f"batches of {room} examples have no room for each of the {most} tasks of model '{name}'"
        yield SpecError("E999", message, place, f"write `train.batch.sentences: {most}` or more")
