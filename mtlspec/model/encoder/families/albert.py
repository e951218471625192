"""ALBERT, whose layers share their parameters.

A head is a head of a layer, as everywhere: layers that use the same parameters have gates, importances and attention of
their own. A head is removed from shared parameters only if every layer that uses them gates it alike; otherwise removal
first gives each layer its own copy.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from torch import Tensor, nn

from mtlspec.model.encoder.families.family import EmptyAttention, Family, linear


def group_of_layer(config: Any) -> list[int]:
    """The group of parameters that each pass through the network uses."""
    per_group = config.num_hidden_layers / config.num_hidden_groups
    return [int(i / per_group) for i in range(config.num_hidden_layers)]


def layers(config: Any) -> list[str]:
    return [
        f"encoder.albert_layer_groups.{group}.albert_layers.{inner}"
        for group in group_of_layer(config)
        for inner in range(config.inner_group_num)
    ]


def untie(model: Any, config: Any) -> None:
    groups = model.encoder.albert_layer_groups
    copies = [deepcopy(groups[group], {id(config): config}) for group in group_of_layer(config)]  # one config for all
    model.encoder.albert_layer_groups = nn.ModuleList(copies)
    config.num_hidden_groups = config.num_hidden_layers


class EmptyNormedAttention(EmptyAttention):
    """ALBERT's attention holds the residual connection and the layer norm, too."""

    def __init__(self, attention: Any) -> None:
        super().__init__(attention, "dense", "output_dropout")
        self.LayerNorm = attention.LayerNorm

    def forward(self, hidden_states: Tensor, *_: Any, **__: Any) -> Any:
        return self.LayerNorm(hidden_states + self.left(hidden_states)), None


FAMILY = Family(
    model_types=("albert",),
    embeddings=("embeddings", "encoder.embedding_hidden_mapping_in"),
    layers=layers,
    attention="attention",
    norms=("attention.LayerNorm", "full_layer_layer_norm"),
    feed_forward="ffn_output",
    output="dense",
    rows=(*linear("query", "query"), *linear("key", "key"), *linear("value", "value")),
    sizes={"num_attention_heads": "heads", "all_head_size": "width"},
    empty=EmptyNormedAttention,
    untie=untie,
)
