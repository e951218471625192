"""A toy strategy: every task scales the outputs of all layer norms by factors of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from mtlspec.model.sharing import Sharing
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States


class Options(SharingOptions):
    type: Literal["scaled_norms"]

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return ScaledNorms(encoder, tasks)


class ScaledNorms(Sharing):
    task_free = False

    def __init__(self, encoder: Encoder, tasks: Sequence[str]) -> None:
        import torch
        from torch import nn

        super().__init__(encoder, tasks)
        places = encoder.places
        norms = [norm for layer in range(len(places.layers)) for norm in places.norms(layer)]
        self._scales = nn.Parameter(torch.ones(len(norms), len(tasks), encoder.width))
        self.module = nn.ParameterDict({"scales": self._scales})
        self._tasks: Tensor | None = None  # int64 [B], while a batch is encoded
        for number, norm in enumerate(norms):
            places.after(norm, partial(self._scale, number))

    def encode(self, batch: Batch) -> States:
        self._tasks = batch.tasks
        try:
            return super().encode(batch)
        finally:
            self._tasks = None

    def _scale(self, norm: int, states: Tensor) -> Tensor:
        """states [R, S, D], each row by the factors of its task."""
        if self._tasks is None:
            return states
        return states * self._scales[norm][self.encoder.per_row(self._tasks)].unsqueeze(1)
