"""What we need to know about a family of encoders: where its layers, norms and heads lie, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

Role = Literal["query", "key", "value", "position_query", "position_key", "output"]


@dataclass(frozen=True)
class Rows:
    """A parameter (a path from the attention block) whose entries along one axis belong to heads.

    Queries, keys and values may share a parameter: this is part `part` of `parts`. Then the parts lie one after the
    other, each with all heads; or, `by_head`, the heads lie one after the other, each with all parts.
    """

    role: Role
    path: str
    axis: int = 0
    part: int = 0
    parts: int = 1
    by_head: bool = False

    def start(self, head: int, heads: int, width: int) -> int:
        """The first index of a head of so many."""
        return (head * self.parts + self.part if self.by_head else self.part * heads + head) * width


@dataclass(frozen=True)
class Family:
    """One implementation of transformers; paths of attention are dotted and start at the attention block."""

    model_types: tuple[str, ...]
    embeddings: tuple[str, ...]
    """The modules that make the first layer's input, from the model; the last one that there is has made it."""
    layers: Callable[[Any], list[str]]
    """config -> path of every layer, from the model; a path that comes twice is shared."""
    attention: str
    """The attention block, from the layer."""
    norms: tuple[str, str]
    """The norms that go with attention and with the feed-forward block, from the layer."""
    feed_forward: str
    """The last projection of the feed-forward block, from the layer."""
    output: str
    """The output projection."""
    rows: tuple[Rows, ...]
    empty: Callable[[nn.Module], nn.Module]
    """What takes the place of `inner` when it has no heads left."""
    inner: str = ""
    """The module that computes attention; empty: the block itself."""
    sizes: Mapping[str, Literal["heads", "width"]] = field(default_factory=dict)
    """Attributes of `inner` that hold the number of heads, or the width of all of them."""
    probabilities: str | None = None
    """The dropout that reads the probabilities, where a family has attention code of its own."""
    refuses: Callable[[Any], str | None] = lambda config: None  # noqa: ARG005
    """config -> why this one cannot be handled."""
    untie: Callable[[Any, Any], None] | None = None
    """(model, config): gives every layer parameters of its own, where a family shares them."""
    pre_norm: bool = False
    """True: norms read the residual stream before attention and feed-forward; False: they follow the addition."""
    causal: bool = False
    """True: a sub-token sees only those before it."""

    def blocks(self, config: Any) -> list[str]:
        """The path of every layer's attention block, from the model."""
        return [f"{layer}.{self.attention}" for layer in self.layers(config)]


def linear(role: Role, path: str) -> tuple[Rows, ...]:
    """Weight and bias of a projection with all heads one after the other."""
    return Rows(role, f"{path}.weight"), Rows(role, f"{path}.bias")


def fused(path: str, axis: int = 0) -> tuple[Rows, ...]:
    """Queries, keys and values in one projection; `axis` is that of the weight's outputs."""
    roles: tuple[Role, ...] = ("query", "key", "value")
    return tuple(
        rows
        for part, role in enumerate(roles)
        for rows in (Rows(role, f"{path}.weight", axis, part, 3), Rows(role, f"{path}.bias", 0, part, 3))
    )


class EmptyContext(nn.Module):
    """Attention without heads, where the output projection is applied outside: its input has no columns."""

    def forward(self, hidden_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, None]:
        """hidden_states [B, S, D] -> [B, S, 0]"""
        return hidden_states.new_zeros(*hidden_states.shape[:-1], 0), None


class EmptyAttention(nn.Module):
    """Attention without heads, projection included: what is left is the projection's bias, and its dropout."""

    def __init__(self, attention: nn.Module, projection: str, dropout: str | None = None) -> None:
        """Keeps modules of `attention` under their names, so that the names of its parameters stay."""
        super().__init__()
        self.projection, self.dropout_name = projection, dropout
        for name in filter(None, (projection, dropout)):
            self.add_module(name, attention.get_submodule(name))

    def left(self, hidden_states: Tensor) -> Tensor:
        """hidden_states [B, S, D] -> [B, S, D]"""
        projection: Any = self.get_submodule(self.projection)
        bias: Tensor | None = projection.bias
        left = torch.zeros_like(hidden_states) if bias is None else bias.expand(hidden_states.shape)
        dropped: Tensor = self.get_submodule(self.dropout_name)(left) if self.dropout_name else left
        return dropped

    def forward(self, hidden_states: Tensor, *_: Any, **__: Any) -> Any:
        return self.left(hidden_states), None
