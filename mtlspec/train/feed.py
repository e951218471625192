"""Feed: one task's endless stream of training sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.batching import BatchCursor, sequential
from mtlspec.data.streams import philox
from mtlspec.spec.models import BatchLimits


class Feed:
    """Sentences of one task, bucketed by length: whole batches, or any number of sentences at a time.

    The two are streams of their own. `rows` int64 [n] are the task's sentences, `lengths` int64 [n] their sub-tokens.
    """

    def __init__(self, name: str, rows: Tensor, lengths: Tensor, limits: BatchLimits, seed: int) -> None:
        self.rows, self._lengths, self._limits = rows, lengths, limits
        self._name, self._seed = name, seed
        self._batches = BatchCursor(lengths, limits.sentences, limits.tokens, seed, name)
        self.batches_per_pass = self._batches.batches_per_pass

    def __len__(self) -> int:
        return len(self.rows)

    def next(self, count: int | None = None) -> Tensor:
        """Rows int64 [B] of the next batch, or of the next `count` sentences."""
        return self.rows[self._batches.next() if count is None else self._single.take(count)]

    def once(self) -> Iterator[Tensor]:
        """All sentences once, in batches; no stream moves."""
        return (self.rows[part] for part in sequential(self._lengths, self._limits.sentences, self._limits.tokens))

    def state(self) -> dict[str, dict[str, int]]:
        used = {"rows": self._single.state()} if "_single" in vars(self) else {}
        return {"batches": self._batches.state(), **used}

    def load_state(self, saved: dict[str, dict[str, int]]) -> None:
        self._batches.load_state(saved["batches"])
        if "rows" in saved:
            self._single.load_state(saved["rows"])

    @cached_property
    def _single(self) -> RowCursor:
        return RowCursor(self._lengths, self._limits.sentences, self._seed, self._name)


class RowCursor:
    """An endless shuffled stream of rows from which any number can be taken.

    In every pass the rows are shuffled and cut into pools of several batches, and each pool is sorted by length, so
    that what is taken together has similar lengths.
    """

    POOL = 8  # batches a pool

    def __init__(self, lengths: Tensor, sentences: int, seed: int, name: str) -> None:
        self._lengths = lengths.numpy()
        self._pool = sentences * self.POOL
        self._seed, self._name = seed, name
        self.load_state({"pass": 0, "row": 0})

    def take(self, count: int) -> Tensor:
        """Rows int64 [count]; a sentence comes again only after all others have come."""
        taken = []
        while count:
            if self._row == len(self._order):
                self.load_state({"pass": self._pass + 1, "row": 0})
            part = self._order[self._row : self._row + count]
            self._row += len(part)
            count -= len(part)
            taken.append(part)
        return torch.from_numpy(np.concatenate(taken))

    def state(self) -> dict[str, int]:
        return {"pass": self._pass, "row": self._row}

    def load_state(self, saved: dict[str, int]) -> None:
        self._pass, self._row = saved["pass"], saved["row"]
        stream = philox(self._seed, f"rows/{self._name}/{self._pass}").bit_generator
        order = np.argsort(stream.random_raw(len(self._lengths)), kind="stable")
        pools = np.arange(len(order)) // self._pool
        self._order = order[np.lexsort((self._lengths[order], pools))]
