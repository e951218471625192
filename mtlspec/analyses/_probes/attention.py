"""The attention probe: which word does each head of each word look at most, and is it the right one?"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from mtlspec.data.batching import Batch


def positions(batch: Batch) -> Tensor:
    """Which sub-tokens make up each position: [B, P, S] of 0 and 1, position 0 being [CLS] and i + 1 the i-th word.

    [SEP] and padding belong to no position.
    """
    words = torch.arange(batch.word_mask.shape[1] + 1, device=batch.pieces.device).view(1, -1, 1) - 1  # [1, P, 1]
    belongs = batch.word_of_piece.unsqueeze(1) == words
    belongs[:, 0] = False
    belongs[:, 0, 0] = True
    return belongs.float()


def word_attention(attention: Tensor, belongs: Tensor) -> Tensor:
    """Attention between positions: attention [B, H, S, S], belongs [B, P, S] -> [B, P, H, P].

    Sums over the key's sub-tokens and over the query's. The mean over the query's differs only by a factor that all
    columns of a row share, so the largest column is the same.
    """
    sentences, heads, length, _ = attention.shape
    size = belongs.shape[1]
    keys = torch.bmm(attention.reshape(sentences, heads * length, length), belongs.transpose(1, 2))
    keys = keys.view(sentences, heads, length, size).transpose(1, 2).reshape(sentences, length, heads * size)
    return torch.bmm(belongs, keys).view(sentences, size, heads, size)


def most_attended(weights: Tensor, word_mask: Tensor, *, with_cls: bool, with_self: bool) -> Tensor:
    """The position with the largest attention: weights [B, P, H, P], word_mask [B, W] -> int64 [B, P, H]."""
    size = weights.shape[1]
    first = torch.full_like(word_mask[:, :1], with_cls)
    open_ = torch.cat([first, word_mask], 1)[:, None, None]  # [B, 1, 1, P]
    if not with_self:
        own = torch.eye(size, dtype=torch.bool, device=weights.device)[None, :, None]
        open_ = open_ & ~own
    return weights.masked_fill(~open_, -1.0).argmax(3)


def found(best: Tensor, row: Tensor, anchor: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """Is each relation found by each head? best int64 [B, P, H]; row, anchor, start, end int64 [r] -> bool [r, H].

    A relation is found if its anchor looks most at a position of [start, end), or one of these at the anchor.
    """
    size = best.shape[1]
    flat = best.flatten(0, 1)
    ahead = flat.index_select(0, row * size + anchor)
    forward = (ahead >= start.unsqueeze(1)) & (ahead < end.unsqueeze(1))
    width = end - start
    relation = torch.repeat_interleave(torch.arange(len(row), device=best.device), width)
    begin = width.cumsum(0) - width
    inner = torch.arange(len(relation), device=best.device) - begin.index_select(0, relation)
    target = start.index_select(0, relation) + inner
    back = flat.index_select(0, row.index_select(0, relation) * size + target)
    hits = (back == anchor.index_select(0, relation).unsqueeze(1)).to(torch.int32)
    backward = torch.zeros_like(forward, dtype=torch.int32).index_add_(0, relation, hits)
    return forward | (backward > 0)


def most_attended_of_layers(
    layers: Sequence[Tensor], belongs: Tensor, word_mask: Tensor, *, with_cls: Sequence[bool], with_self: bool
) -> list[Tensor]:
    """One int64 [B, P, heads of all layers] for each entry of `with_cls`; layers are [B, H, S, S] each."""
    made: list[list[Tensor]] = [[] for _ in with_cls]
    for attention in layers:
        weights = word_attention(attention, belongs)
        for chosen, cls in zip(made, with_cls, strict=True):
            chosen.append(most_attended(weights, word_mask, with_cls=cls, with_self=with_self))
    return [torch.cat(chosen, 2) for chosen in made]
