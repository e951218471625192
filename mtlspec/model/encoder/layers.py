"""Students: a transformer that keeps only some of its layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import nn

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.places import Places


def keep_layers(model: nn.Module, config: Any, places: Places, kept: Sequence[int]) -> None:
    """Leave only these layers (from 1, ascending), with their weights; the config says how many there are."""
    count = len(places.layers)
    if list(kept) == list(range(1, count + 1)):
        return
    if max(kept) > count:
        raise EncoderError("E881", f"there is no layer {max(kept)} to keep: the encoder has {count}")
    if places.shared:
        raise EncoderError("E882", "the encoder's layers share their parameters: none can be left out")
    stack = model.get_submodule(places.layers[0].path.rpartition(".")[0])
    assert isinstance(stack, nn.ModuleList)
    own = [stack[number - 1] for number in kept]
    del stack[len(own) :]
    for place, layer in enumerate(own):
        stack[place] = layer
    config.num_hidden_layers = len(own)
