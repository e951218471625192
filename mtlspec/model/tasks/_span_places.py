"""Answers as characters of a text, and as sub-tokens of an example."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.answers import Answered
from mtlspec.data.prepared import PreparedSplit


def first_places(split: PreparedSplit, layer: str) -> tuple[Tensor, Tensor]:
    """int64 [N] each: the first and the last sub-token of every example's first answer; 0 where there is none.

    Those are all that share a character with it. That there are some was checked when the text was prepared.
    """
    starts, ends = (part.numpy() for part in split.characters)
    second = (split.piece_words == 1).numpy()
    offsets = split.piece_offsets.tolist()
    places = np.zeros((2, len(split)), np.int64)
    for row, value in enumerate(split.values(layer)):
        if value is not None and value.spans:
            (start, end), own = value.spans[0], slice(offsets[row], offsets[row + 1])
            held = np.flatnonzero(second[own] & (starts[own] < end) & (ends[own] > start))
            places[:, row] = held[0], held[-1]
    return torch.from_numpy(places[0]), torch.from_numpy(places[1])


def best_spans(scores: Tensor, longest: int, margin: float | None) -> Tensor:
    """The best answer of every example, first and last sub-token: int64 [B, 2]; two zeros for none.

    scores float [B, S, 2] are of starts and ends, minus infinity where there can be none. With `margin`, place 0 stands
    for no answer, and an answer must be better by more than that; without, an example has none only if it has no place.
    """
    start, end = scores.unbind(2)
    first = start[:, 0] + end[:, 0]
    if margin is not None:
        start = torch.cat([torch.full_like(start[:, :1], -torch.inf), start[:, 1:]], 1)
    widest = min(longest, scores.shape[1])
    reached = torch.nn.functional.pad(end, (0, widest - 1), value=-torch.inf).unfold(1, widest, 1)  # [B, S, widest]
    best, place = (start.unsqueeze(2) + reached).flatten(1).max(1)
    spans = torch.stack([place // widest, place // widest + place % widest], 1)
    none = best.isneginf() if margin is None else ~(best > first + margin)
    return spans.masked_fill(none.unsqueeze(1), 0)


def answer_at(split: PreparedSplit, row: int, first: int, last: int) -> Answered:
    """The characters of an example's sub-tokens, as an answer; none if `last` is the very first sub-token."""
    if last == 0:
        return Answered()
    starts, ends = split.characters
    own = int(split.piece_offsets[row])
    at, behind = int(starts[own + first]), int(ends[own + last])
    text = split.texts(row)[1][at:behind]
    at += len(text) - len(text.lstrip())
    return Answered((text.strip(),), ((at, at + len(text.strip())),))
