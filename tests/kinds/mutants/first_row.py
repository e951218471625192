"""A strategy that is wrong on purpose: it takes all rows of a batch for examples of the first one's task."""

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
    type: Literal["first_row"]

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return FirstRow(encoder, tasks)


class FirstRow(Sharing):
    task_free = False

    def encode(self, batch: Batch) -> States:
        states = super().encode(batch)
        assert batch.tasks is not None
        return replace(states, words=states.words * (1 + batch.tasks[0]))
