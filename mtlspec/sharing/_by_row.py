"""Strategies that do something else for every row of a batch, depending on the task that the row is meant for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mtlspec.model.sharing import Sharing

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States


class ByRow(Sharing):
    """Knows the task of every row in flight; tasks meet in one forward pass, and nothing loops over them.

    Who calls the encoder itself, past the strategy, gets the encoder as if there were none.
    """

    task_free = False

    def __init__(self, encoder: Encoder, tasks: Sequence[str]) -> None:
        super().__init__(encoder, tasks)
        self._tasks: Tensor | None = None  # int64 [B], while a batch is encoded

    def encode(self, batch: Batch) -> States:
        if batch.tasks is None:
            raise ValueError("a batch whose rows have no tasks cannot be encoded for them")
        self._tasks = batch.tasks
        try:
            return self.run(batch)
        finally:
            self._tasks = None

    def run(self, batch: Batch) -> States:
        """The encoder's pass, in which `rows` are known."""
        return Sharing.encode(self, batch)

    @property
    def encoding(self) -> bool:
        """Whether a pass is this strategy's own."""
        return self._tasks is not None

    @property
    def rows(self) -> Tensor:
        """The task of every row in flight, int64 [R]."""
        assert self._tasks is not None
        return self.encoder.per_row(self._tasks)
