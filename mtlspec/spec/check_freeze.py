"""Checks of `train.freeze`, where the encoder's number of layers is known before anything has run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from mtlspec.errors import Place, SpecError
from mtlspec.spec.cards import EncoderCard
from mtlspec.spec.expand import vary
from mtlspec.spec.freezing import freeze_problem
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node

_KEY = "train.freeze"


def check_freeze(node: Node, encoder: EncoderCard | None, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; values of sweeps count as what they stand for."""
    frozen = [found for name, group in groups.items() for found in _frozen(node, name, group)]
    layers = encoder.source.layer_count() if frozen and encoder is not None else None
    told: set[Place] = set()
    for group, place in frozen:
        problem = freeze_problem(group.train.freeze, layers) if group.train.freeze is not None and layers else None
        if problem is not None and place not in told:
            told.add(place)  # what is said for all models is wrong once
            yield SpecError("E812", problem[0], place, problem[1])


def _frozen(node: Node, name: str, group: ModelGroup) -> Iterator[tuple[ModelGroup, Place]]:
    """The group as its models are trained, once for each value of a sweep over what is frozen."""
    model = node.near(("models", name))
    sweep = {**node.children("sweep"), **model.children("sweep")}
    swept = [
        (key, item) for key, values in sweep.items() if f"{key}.".startswith(f"{_KEY}.") for item in values.items()
    ]
    if not swept and group.train.freeze is not None:
        yield group, model.near(("train", "freeze", "layers")).place
    for key, item in swept:
        try:
            yield vary(group, [(key, item.plain())]), item.place
        except (KeyError, ValidationError):  # told of elsewhere
            continue
