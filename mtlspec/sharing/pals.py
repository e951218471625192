"""PALs (Stickland and Murray): beside every layer of the shared encoder, a small attention of each task.

A task's projections to the small width and back are the same in all layers. Encoder and PALs train together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import EncoderError
from mtlspec.model.sharing import Sharing
from mtlspec.sharing._by_row import ByRow
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States


class Options(SharingOptions):
    trains_heads: ClassVar[bool] = True

    type: Literal["pals"]
    size: Annotated[int, Field(ge=1)] = Field(
        default=204, description="The small width; a multiple of `heads`. 204 is the paper's, for BERT-base."
    )
    heads: Annotated[int, Field(ge=1)] = Field(default=12, description="Heads of each small attention.")
    start: Literal["identity", "released"] = Field(
        default="identity",
        description="The projections back start with zeros, so that nothing is added at first, or with small random "
        "weights, as in the paper's code.",
    )

    def problem(self, started: bool) -> str | None:
        """Heads have to share the width evenly; the start makes no difference."""
        del started
        if self.size % self.heads:
            return f"`size: {self.size}` is not a multiple of `heads: {self.heads}`"
        return None

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return Pals(encoder, tasks, self)


class Pals(ByRow):
    """What PALs make of a layer's input is added to the feed-forward block's output, and so before the last norm.

    Where norms stand before the blocks (GPT-2, ModernBERT), it is added to what the layer adds to the stream. In
    encoders that read from left to right, PALs do so, too. Layers that share their parameters (ALBERT) have attentions
    of their own each.
    """

    def __init__(self, encoder: Encoder, tasks: Sequence[str], options: Options) -> None:
        from mtlspec.sharing._projected_attention import ProjectedAttention, TaskAttention

        super().__init__(encoder, tasks)
        wrong = options.problem(started=False)
        if wrong is not None:
            raise EncoderError("E989", wrong)
        places = encoder.places
        small = (TaskAttention(len(tasks), options.size, options.heads, encoder.causal) for _ in places.layers)
        made = ProjectedAttention(len(tasks), self.width, options.size, options.start, small)
        self.module = self._pals = made
        self._input: Tensor | None = None  # of the layer that computes [R, S, D]
        places.after(places.embeddings, self._keep)
        for layer, place in enumerate(places.layers):
            places.after(places.feed_forward(layer), partial(self._add, layer))
            places.after(place, self._keep)

    def _keep(self, states: Tensor) -> Tensor:
        """What a layer gives is what the next one reads."""
        self._input = states if self.encoding else None
        return states

    def _add(self, layer: int, states: Tensor) -> Tensor:
        if self._input is None:
            return states
        found: Tensor = states + self._pals(layer, self._input, self.rows, self.encoder.row_mask)
        return found

    def run(self, batch: Batch) -> States:
        try:
            return super().run(batch)
        finally:
            self._input = None
