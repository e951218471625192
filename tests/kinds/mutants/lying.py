"""A strategy that is wrong on purpose: every task has a scale of its own, but it says that tasks make no difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from mtlspec.model.sharing import Sharing
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States


class Options(SharingOptions):
    type: Literal["lying"]

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return Lying(encoder, tasks)


class Lying(Sharing):
    def __init__(self, encoder: Encoder, tasks: Sequence[str]) -> None:
        import torch
        from torch import nn

        super().__init__(encoder, tasks)
        self.module = nn.ParameterDict({"scales": torch.ones(len(tasks))})

    def encode(self, batch: Batch) -> States:
        states = super().encode(batch)
        assert batch.tasks is not None
        return replace(states, words=states.words * self.module.get_parameter("scales")[batch.tasks].view(-1, 1, 1))
