"""Checks of joint batches: a sampler beside them would be ignored without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import SpecError
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node

_SWEPT = "train.batching"


def check_batching(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """A sampler is an error where it is written for joint batches, not where it is inherited.

    A group that turns to joint batches may leave the spec's sampler to the others, and a spec may do so with the
    sampler of one that it extends.
    """
    shared = node.child("train")
    joint = [
        name
        for name, group in groups.items()
        if group.train.batching == "joint" and _SWEPT not in group.sweep and _SWEPT not in node.children("sweep")
    ]
    if shared is not None and joint == list(node.children("models")):
        yield from _check_level(shared, "every model")
    inherited = node.get("train", "sampler")
    for name in joint:
        train = node.near(("models", name, "train"))
        if train.child("sampler") is not inherited:
            yield from _check_level(train, f"model '{name}'")


def _check_level(train: Node, whose: str) -> Iterator[SpecError]:
    sampler, batching = train.child("sampler"), train.child("batching")
    if sampler is None or batching is None or batching.value != "joint" or sampler.place.file != batching.place.file:
        return
    message = f"the sampler has nothing to draw: the batches of {whose} are joint"
    yield SpecError("E198", message, sampler.key or sampler.place, "leave it out, or write `batching: sampled`")
