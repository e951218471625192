"""Checks of joint batches: a sampler beside them would be ignored without a word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import Place, SpecError
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import shorten

_BATCHING, _SAMPLER = "train.batching", "train.sampler"


def check_batching(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """A sampler is an error where it is written for joint batches, not where it is inherited.

    A group that turns to joint batches may leave the spec's sampler to the others, and a spec may do so with the
    sampler of one that it extends.
    """
    batchings = {name: _batchings(node, name, group) for name, group in groups.items()}
    joint = [name for name, found in batchings.items() if found == {"joint"}]
    shared = node.child("train")
    if shared is not None and joint == list(node.children("models")):
        yield from _check_level(shared, "every model", node.place)
    inherited = node.get("train", "sampler")
    for name in joint:
        train = node.near(("models", name, "train"))
        if train.child("sampler") is not inherited:
            yield from _check_level(train, f"model '{name}'", node.place)
    yield from _check_sweeps(node, [name for name, found in batchings.items() if "joint" in found])


def _batchings(node: Node, name: str, group: ModelGroup) -> set[object]:
    """How the models of a group make their batches: `sampled`, `joint` or, in a sweep, both."""
    swept = node.get("models", name, "sweep", _BATCHING) or node.get("sweep", _BATCHING)
    return {group.train.batching} if swept is None else {item.value for item in swept.items()}


def _check_level(train: Node, whose: str, spec: Place) -> Iterator[SpecError]:
    sampler, batching = train.child("sampler"), train.child("batching")
    if sampler is None:
        return
    together = batching is not None and sampler.place.file == batching.place.file
    later = _closeness(sampler, spec) >= (_closeness(batching, spec) if batching is not None else 0)
    if not together and not (later and _closeness(sampler, spec)):
        return  # it was said before: what is extended here, or set on the command line, turned to joint batches
    message = f"the sampler has nothing to draw: the batches of {whose} are joint"
    yield SpecError("E198", message, sampler.key or sampler.place, "leave it out, or write `batching: sampled`")


def _closeness(said: Node, spec: Place) -> int:
    """Who has the last word: the command line, then the spec itself, then those that it extends."""
    return 2 if said.place.file.startswith("--set ") else int(said.place.file == spec.file)


def _check_sweeps(node: Node, joint: list[str]) -> Iterator[SpecError]:
    """Models that differ in nothing but a sampler that is never asked would be the same model under two names."""
    told: set[Place] = set()
    for name in joint:
        for key, values in {**node.children("sweep"), **node.near(("models", name)).children("sweep")}.items():
            place = values.key or values.place
            if (key != _SAMPLER and not key.startswith(f"{_SAMPLER}.")) or place in told:
                continue
            told.add(place)
            message = f"the sweep over '{shorten(key)}' changes nothing where the batches of model '{name}' are joint"
            hint = "sweep the samplers of groups with `batching: sampled` only"
            yield SpecError("E810", message, place, hint)
