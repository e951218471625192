"""Sentences over the encoder's length limit: overlapping windows whose centres are stitched together.

Neighbouring windows overlap by half or more. Each sub-token takes its state from the window in which it is further from
the edge: its centre half, except at the two ends of the sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from mtlspec.data.batching import Specials


def window_starts(length: int, size: int) -> list[int]:
    """Where windows of `size` start so that they cover `length` sub-tokens; the last one ends with the sentence."""
    if length <= size:
        return [0]
    step = max(size // 2, 1)
    return [*range(0, length - size, step), length - size]


def window_owners(length: int, size: int) -> list[int]:
    """For each sub-token the number of the window that it is read from: its boundary is the middle of the overlap."""
    starts = window_starts(length, size)
    owners = [0] * length
    for number in range(1, len(starts)):
        overlap_end = starts[number - 1] + size
        boundary = (starts[number] + overlap_end) // 2
        owners[boundary:] = [number] * (length - boundary)
    return owners


@dataclass(frozen=True)
class Windows:
    """A batch [B, S] cut into R windows of L sub-tokens, and the way back.

    pieces int64 [R, L] with a sentence's own [CLS] and [SEP] around every window; mask bool [R, L];
    rows int64 [R]: the sentence of each window; places int64 [R, L]: where in it the sub-tokens stand;
    source int64 [B, S]: for every position of the batch the flat position in [R * L] whose state it takes.
    """

    pieces: Tensor
    mask: Tensor
    rows: Tensor
    places: Tensor
    source: Tensor

    def stitch(self, states: Tensor) -> Tensor:
        """States of the windows [R, L, ...] -> states of the sentences [B, S, ...]."""
        chosen = states.flatten(0, 1).index_select(0, self.source.flatten())
        return chosen.view(*self.source.shape, *states.shape[2:])

    def mean(self, vectors: Tensor, sentences: int) -> Tensor:
        """One vector a window [R, D] -> the mean over each sentence's windows [B, D].

        A matrix product, because its backward pass adds up in a fixed order on every device.
        """
        belongs = self.rows.unsqueeze(0) == torch.arange(sentences, device=self.rows.device).unsqueeze(1)  # [B, R]
        weight = belongs.to(vectors.dtype)
        return (weight / weight.sum(1, keepdim=True)) @ vectors

    def of_pieces(self, values: Tensor) -> Tensor:
        """Values of the sentences' sub-tokens, int64 [B, S] -> of the windows' [R, L], zero on padding."""
        return values.index_select(0, self.rows).gather(1, self.places).masked_fill(~self.mask, 0)

    def stitch_attention(self, attention: Tensor) -> Tensor:
        """Attention within windows [R, H, L, L] -> [B, H, S, S], zero on keys that a query's window does not hold."""
        rows, length = self.source.shape
        real = attention * self.mask.view(len(self.rows), 1, 1, -1)  # padding shares its place with the first one
        chosen = self.stitch(real.transpose(1, 2))  # [B, S, H, L]
        places = self.places.index_select(0, self.source.flatten() // self.places.shape[1])  # of the keys [B * S, L]
        index = places.view(rows, length, 1, -1).expand(chosen.shape)
        spread = chosen.new_zeros(*chosen.shape[:3], length).scatter_add(3, index, chosen)
        return spread.transpose(1, 2)

    def cut_bias(self, bias: Tensor) -> Tensor:
        """A bias of sentences [B or 1, H or 1, S or 1, S or 1] -> of windows [R or 1, ..., L or 1, L or 1]."""
        if bias.shape[0] == 1 and bias.shape[2:] == (1, 1):
            return bias
        cut = bias.index_select(0, self.rows if bias.shape[0] > 1 else torch.zeros_like(self.rows))
        for axis in (2, 3):
            if cut.shape[axis] > 1:
                shape = [len(cut), 1, 1, 1]
                shape[axis] = self.places.shape[1]
                size = [*cut.shape]
                size[axis] = self.places.shape[1]
                cut = cut.gather(axis, self.places.view(shape).expand(size))
        return cut


def cut(pieces: Tensor, mask: Tensor, limit: int, specials: Specials, repeated: Tensor | None = None) -> Windows:
    """Cut a batch (pieces int64 [B, S], mask bool [B, S]) into windows of at most `limit` sub-tokens with specials.

    [CLS] takes its state from a sentence's first window, [SEP] from its last. Short sentences stay whole. Raw texts of
    some families have no specials at their ends: nothing is repeated there. `repeated` int64 [B]: how many sub-tokens,
    if any, stand at the start of every window of a row in place of [CLS] alone, such as a question before its text.
    """
    rows, length = pieces.shape
    fronts = repeated.tolist() if repeated is not None else [0] * rows
    counted = zip(pieces, mask.sum(1).tolist(), fronts, strict=True)
    ends = [_ends(own, count, specials, front) for own, count, front in counted]
    cuts: list[tuple[int, int, int]] = []  # (row, start, content length)
    source = torch.zeros(rows, length, dtype=torch.int64)
    width = max(min(left + content + right, limit) for left, content, right in ends)
    for row, (left, content, right) in enumerate(ends):
        first, size = len(cuts), limit - left - right
        starts = window_starts(content, size)
        cuts += [(row, start, min(size, content - start)) for start in starts]
        owner = torch.tensor(window_owners(content, size), dtype=torch.int64)
        offset = torch.arange(content) - torch.tensor(starts)[owner] + left
        source[row, left : left + content] = (first + owner) * width + offset
        source[row, :left] = first * width + torch.arange(left)
        source[row, left + content :] = (len(cuts) - 1) * width + left + cuts[-1][2] + right - 1
    places = torch.zeros(len(cuts), width, dtype=torch.int64)
    cut_mask = torch.zeros(len(cuts), width, dtype=torch.bool)
    for number, (row, start, content) in enumerate(cuts):
        left, whole, right = ends[row]
        places[number, :left] = torch.arange(left)
        places[number, left : left + content] = torch.arange(start + left, start + left + content)
        places[number, left + content : left + content + right] = left + whole
        cut_mask[number, : left + content + right] = True
    places, cut_mask, source = places.to(pieces.device), cut_mask.to(pieces.device), source.to(pieces.device)
    numbers = torch.tensor([row for row, _, _ in cuts], device=pieces.device)
    cut_pieces = pieces.index_select(0, numbers).gather(1, places).masked_fill(~cut_mask, specials.pad)
    return Windows(cut_pieces, cut_mask, numbers, places, source)


def _ends(pieces: Tensor, count: int, specials: Specials, front: int) -> tuple[int, int, int]:
    """What every window begins with, sub-tokens between, specials behind, of a row whose first `count` are real."""
    known = (specials.cls, specials.sep)
    left = front or int(int(pieces[0]) in known)
    right = int(count > 1 and int(pieces[count - 1]) in known)
    return left, count - left - right, right
