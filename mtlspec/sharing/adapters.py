"""Adapters (Houlsby et al.): every task has two small bottlenecks in each layer, and norms of its own.

The encoder itself stays as it is, unless `encoder: trained` says otherwise: tasks then share nothing that learns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from mtlspec.model.sharing import Sharing
from mtlspec.sharing._by_row import ByRow
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.sharing._adapter import Adapter, OwnNorm
    from mtlspec.sharing._task_norm import Norm


class Options(SharingOptions):
    trains_heads: ClassVar[bool] = True

    type: Literal["adapters"]
    size: Annotated[int, Field(ge=1)] = Field(
        default=64, description="Width of the bottlenecks; the paper tries 8 to 256."
    )
    activation: Literal["gelu", "relu"] = Field(default="gelu", description="Between a bottleneck's two projections.")
    spread: Annotated[float, Field(gt=0)] = Field(
        default=1e-3,
        description="Standard deviation of the weights at the start, where adapters change next to nothing.",
    )
    norms: bool = Field(default=True, description="Every task trains the layers' norms for itself, too.")
    encoder: Literal["frozen", "trained"] = Field(
        default="frozen", description="Whether all tasks together train the encoder's own weights beside the adapters."
    )

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return Adapters(encoder, tasks, self)


class Adapters(ByRow):
    """Behind the output projections of attention and of the feed-forward block, before dropout and addition.

    That is so in every family; layers that share their parameters (ALBERT) have adapters of their own each.
    """

    def __init__(self, encoder: Encoder, tasks: Sequence[str], options: Options) -> None:
        from torch import nn

        from mtlspec.sharing._adapter import Adapter, OwnNorm
        from mtlspec.sharing._task_norm import norm_at

        super().__init__(encoder, tasks)
        places, adapters, norms = encoder.places, nn.ModuleDict(), nn.ModuleDict()
        if options.encoder == "frozen":
            encoder.requires_grad_(False)
        for layer in range(len(places.layers)):
            behind = {"attention": places.attention_output(layer), "output": places.feed_forward(layer)}
            for name, place in behind.items():
                made = Adapter(len(tasks), self.width, options.size, options.activation, options.spread)
                adapters[f"{layer}_{name}"] = made
                places.after(place, partial(self._adapt, made))
            for name, place in zip(behind, places.norms(layer), strict=True):
                norm = norm_at(place)
                if options.norms and norm is not None:
                    own = OwnNorm(len(tasks), self.width, norm.bias is not None)
                    norms[f"{layer}_{name}"] = own
                    places.around(place, partial(self._norm, own, norm))
        self.module.add_module("adapters", adapters)
        self.module.add_module("norms", norms)

    def _adapt(self, adapter: Adapter, states: Tensor) -> Tensor:
        if not self.encoding:
            return states
        adapted: Tensor = adapter(states, self.rows)
        return adapted

    def _norm(self, own: OwnNorm, norm: Norm, read: Tensor, output: Tensor) -> Tensor:
        if not self.encoding:
            return output
        made: Tensor = own(norm, read, self.rows)
        return made
