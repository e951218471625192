"""Sentences over the encoder's length limit: overlapping windows whose centres are stitched together.

Neighbouring windows overlap by half or more. Each sub-token takes its state from the window in which it is further from
the edge: its centre half, except at the two ends of the sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


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
    """A batch cut into windows, and the way back.

    pieces int64 [R, L] with [CLS] and [SEP] around every window; mask bool [R, L];
    source int64 [B * S]: for every position of the batch the flat position in [R * L] whose state it takes.
    """

    pieces: Tensor
    mask: Tensor
    source: Tensor

    def stitch(self, hidden: Tensor, rows: int, length: int) -> Tensor:
        """States of the windows [R, L, D] -> states of the sentences [B, S, D]."""
        return hidden.flatten(0, 1).index_select(0, self.source).view(rows, length, -1)


def cut(pieces: Tensor, mask: Tensor, limit: int, pad: int) -> Windows:
    """Cut a batch (pieces int64 [B, S], mask bool [B, S]) into windows of at most `limit` sub-tokens with specials.

    [CLS] takes its state from a sentence's first window, [SEP] from its last. Short sentences stay whole.
    """
    rows, length = pieces.shape
    size = limit - 2
    contents = (mask.sum(1) - 2).tolist()
    window_of_row: list[tuple[int, int, int]] = []  # (row, start, content length)
    source = torch.zeros(rows, length, dtype=torch.int64)
    width = min(max(contents), size) + 2
    for row, content in enumerate(contents):
        first = len(window_of_row)
        starts = window_starts(content, size)
        window_of_row += [(row, start, min(size, content - start)) for start in starts]
        owner = torch.tensor(window_owners(content, size), dtype=torch.int64)
        offset = torch.arange(content) - torch.tensor(starts)[owner] + 1
        source[row, 1 : content + 1] = (first + owner) * width + offset
        source[row, 0] = first * width
        source[row, content + 1 :] = (len(window_of_row) - 1) * width + window_of_row[-1][2] + 1
    cut_pieces = pieces.new_full((len(window_of_row), width), pad)
    cut_mask = mask.new_zeros((len(window_of_row), width))
    for number, (row, start, content) in enumerate(window_of_row):
        cut_pieces[number, 0] = pieces[row, 0]
        cut_pieces[number, 1 : content + 1] = pieces[row, start + 1 : start + content + 1]
        cut_pieces[number, content + 1] = pieces[row, contents[row] + 1]
        cut_mask[number, : content + 2] = True
    return Windows(cut_pieces, cut_mask, source.flatten().to(pieces.device))
