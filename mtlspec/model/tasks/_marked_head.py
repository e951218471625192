"""From the states of an example with marked words to its scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.batching import Batch
from mtlspec.data.prepared import PreparedSplit
from mtlspec.model.encoder.states import States
from mtlspec.model.tasks._pooled import PooledOptions
from mtlspec.model.tasks._pooled_head import PooledHead


class MarkedHead(PooledHead):
    """The vector of an example and those of its marked places, side by side."""

    def __init__(
        self, width: int, outputs: int, options: PooledOptions, marks: int, weights: Callable[[Batch], Tensor]
    ) -> None:
        super().__init__(width * (1 + marks), outputs, options)
        self._weights = weights

    def vectors(self, states: States, batch: Batch) -> Tensor:
        marked = torch.bmm(self._weights(batch).to(states.pieces.dtype), states.pieces)  # [B, marks, D]
        return torch.cat([super().vectors(states, batch), marked.flatten(1)], 1)


def marked_pieces(split: PreparedSplit, layer: str, marks: int) -> Tensor | None:
    """int64 [N, marks, 2]: the first and the last sub-token of each marked place, counted from the example's start.

    Those are all that share a character with it. None if an example has another number of marked places.
    """
    (segments, offsets), starts, ends = (
        split.flat(f"{layer}.segment"),
        *(split.flat(f"{layer}.{side}")[0] for side in ("start", "end")),
    )
    if not bool((offsets.diff() == marks).all()):
        return None
    first, behind = (part.numpy() for part in split.characters)
    of, pieces = split.piece_words.numpy(), split.piece_offsets.tolist()
    places = np.zeros((len(split) * marks, 2), np.int64)
    spans = zip(segments.tolist(), starts.tolist(), ends.tolist(), strict=True)
    for number, (segment, start, end) in enumerate(spans):
        own = slice(pieces[number // marks], pieces[number // marks + 1])
        held = np.flatnonzero((of[own] == segment) & (first[own] < end) & (behind[own] > start))
        places[number] = held[0], held[-1]
    return torch.from_numpy(places).view(len(split), marks, 2)


def mark_weights(places: Tensor, width: int, marked: Literal["mean", "first"]) -> Tensor:
    """places int64 [B, marks, 2] -> float32 [B, marks, width]: even over a marked place, or all on its first one."""
    first, last = places[..., :1], places[..., 1:] if marked == "mean" else places[..., :1]
    at = torch.arange(width)
    there = ((at >= first) & (at <= last)).float()
    return there / there.sum(2, keepdim=True)
