"""The gold side of span ranking: predicates and roles of a split as flat tensors, and the classes of ranked pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.prepared import PreparedSplit
from mtlspec.metrics.roles import VERB_ROLES
from mtlspec.model.ragged import members
from mtlspec.model.span_ranking import Ranked, Spans

NULL, UNKNOWN = 0, -1  # classes: no role; a role that training never saw, or no pair at all


class RoleGold(NamedTuple):
    """Predicates and learnable roles of a split end to end: int64 [P] or [M], with offsets int64 [N + 1]."""

    predicates: Tensor
    predicate_offsets: Tensor
    of: Tensor  # a role's predicate
    starts: Tensor
    lasts: Tensor  # inclusive
    classes: Tensor
    offsets: Tensor


def encode_roles(split: PreparedSplit, layer: str, roles: Sequence[str], max_width: int) -> RoleGold:
    """Class 1 is the first of `roles`; of several roles of one predicate on the same words the first is learnt."""
    predicates, predicate_offsets = split.flat(f"{layer}.predicate")
    frames, offsets = split.flat(f"{layer}.frame")
    starts, ends = (split.flat(f"{layer}.{side}")[0].long() for side in ("start", "end"))
    sentence = torch.repeat_interleave(torch.arange(len(split)), offsets.diff())
    of = predicates[predicate_offsets[sentence] + frames].long()
    encoded = split.column(f"{layer}.role").combine_chunks().flatten().dictionary_encode()
    place = {role: number for number, role in enumerate(roles, NULL + 1)}
    names = encoded.dictionary.to_pylist()
    codes = torch.from_numpy(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))
    classes = torch.tensor([place.get(role, UNKNOWN) for role in names], dtype=torch.int64)[codes]
    verbs = torch.tensor([role in VERB_ROLES for role in names], dtype=torch.bool)[codes]
    learnt = torch.nonzero(~verbs & (ends - starts <= max_width)).squeeze(1)
    keys = torch.stack([sentence, of, starts, ends])[:, learnt]
    first = np.unique(keys.numpy(), axis=1, return_index=True)[1]  # in the order of the keys, sentences first
    chosen = learnt[torch.from_numpy(first)]
    sizes = torch.bincount(sentence[chosen], minlength=len(split))
    return RoleGold(
        predicates.long(),
        predicate_offsets,
        of[chosen],
        starts[chosen],
        ends[chosen] - 1,
        classes[chosen],
        torch.cat([torch.zeros(1, dtype=torch.int64), sizes.cumsum(0)]),
    )


def given_predicates(gold: RoleGold, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Words int64 [B, P] and mask bool [B, P] of the gold predicates of sentences int64 [B]."""
    owner, place = members(gold.predicate_offsets, rows)
    counts = torch.bincount(owner, minlength=len(rows))
    mask = torch.arange(int(counts.max())) < counts.unsqueeze(1)
    return torch.zeros(mask.shape, dtype=torch.int64).masked_scatter_(mask, gold.predicates[place]), mask


def gold_candidates(gold: RoleGold, rows: Tensor, spans: Spans, words: int) -> tuple[Tensor, Tensor]:
    """The spans bool [B, T] and predicates bool [B, N] of the learnable roles of sentences int64 [B]."""
    owner, place = members(gold.offsets, rows)
    good_spans, good_predicates = (torch.zeros(len(rows), n, dtype=torch.bool) for n in (len(spans.starts), words))
    good_spans[owner, _numbers(gold, place, spans)] = True
    good_predicates[owner, gold.of[place]] = True
    return good_spans, good_predicates


def pair_classes(ranked: Ranked, spans: Spans, words: int, rows: Tensor, gold: RoleGold) -> Tensor:
    """int64 [B, K, P], on the CPU: the class of each kept pair, UNKNOWN on padding. Gold roles look up their pair."""
    kept, predicates, mask = (t.cpu() for t in (ranked.spans, ranked.predicates, ranked.mask))
    owner, place = members(gold.offsets, rows)
    span_slot = _slots(kept, mask.any(2), len(spans.starts))[owner, _numbers(gold, place, spans)]
    predicate_slot = _slots(predicates, mask.any(1), words)[owner, gold.of[place]]
    there = (span_slot >= 0) & (predicate_slot >= 0)
    classes = torch.where(mask, NULL, UNKNOWN)
    classes[owner[there], span_slot[there], predicate_slot[there]] = gold.classes[place][there]
    return classes


def _numbers(gold: RoleGold, place: Tensor, spans: Spans) -> Tensor:
    """int64 [M]: the numbers of the spans of roles."""
    return spans.rows.cpu()[gold.starts[place]] + gold.lasts[place] - gold.starts[place]


def _slots(kept: Tensor, mask: Tensor, count: int) -> Tensor:
    """kept int64 [B, K] of `count` things, mask bool [B, K] -> int64 [B, count]: the slot of each thing, or -1."""
    slots = torch.full((len(kept), count + 1), -1)
    numbers = torch.arange(kept.shape[1]).expand_as(kept)
    return slots.scatter_(1, kept.masked_fill(~mask, count), numbers)[:, :count]
