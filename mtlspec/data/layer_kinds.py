"""Kinds of layers by their names, and by the values that show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mtlspec import kinds
from mtlspec.data.layer import Kind
from mtlspec.data.sentence import Layer, Sentence
from mtlspec.spec.families import LAYERS, LayerKind


def layer_kind(name: LayerKind) -> Kind[Any]:
    """The kind of a name, which is the name of its file."""
    kind: Kind[Any] = kinds.load(LAYERS, name).KIND
    return kind


def kind_of(value: Layer) -> LayerKind:
    """The kind that a value shows."""
    return next(name for name in kinds.names(LAYERS) if layer_kind(name).shows(value))


def shown_kinds(sentences: Iterable[Sentence]) -> dict[str, LayerKind]:
    """Layers and their kinds as the sentences show them, from a value that is not empty wherever there is one."""
    telling: dict[str, Layer] = {}
    for sentence in sentences:
        for name, value in sentence.layers.items():
            if not telling.get(name):
                telling[name] = value
    return {name: kind_of(value) for name, value in telling.items()}
