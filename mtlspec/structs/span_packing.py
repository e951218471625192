"""Which of many scored spans to keep: greedily the best ones, or the best set without overlaps.

Arguments, everywhere: scores [K], starts int64 [K], ends int64 [K] (exclusive, greater than the start) of the spans of
G groups (sentences, predicates) one after another, and offsets int64 [G + 1], where each group begins. A span whose
score is -inf or NaN is never kept. Of equal choices the span that is given first wins.
The work is sequential, so tensors of other devices are moved to the CPU and compiled code does it there.
"""

from __future__ import annotations

import torch
from torch import Tensor


def greedy(scores: Tensor, starts: Tensor, ends: Tensor, offsets: Tensor, nested: bool) -> Tensor:
    """Spans from the best score down, each kept if it fits to those kept before: bool [K].

    Two spans fit if they share no word; with `nested` also if one lies inside the other. Spans over the same words
    never fit.
    """
    from mtlspec.structs import _span_packing_numba as compiled

    kept: Tensor = compiled.greedy(*_inputs(scores, starts, ends, offsets), torch.tensor([nested]))
    return kept.to(scores.device)


def best_disjoint(scores: Tensor, starts: Tensor, ends: Tensor, offsets: Tensor) -> Tensor:
    """The spans of the set that shares no word and has the highest sum of scores: bool [K].

    Only spans with a positive score are taken. Of equal sums the one that does without a span, seen from the last word
    on, wins.
    """
    from mtlspec.structs import _span_packing_numba as compiled

    kept: Tensor = compiled.best_disjoint(*_inputs(scores, starts, ends, offsets))
    return kept.to(scores.device)


def _inputs(scores: Tensor, starts: Tensor, ends: Tensor, offsets: Tensor) -> tuple[Tensor, ...]:
    starts, ends = starts.cpu().long(), ends.cpu().long()
    if bool((starts < 0).any()) or bool((ends <= starts).any()):
        raise ValueError("a span must start at 0 or later and end after its start")
    return scores.detach().cpu().double(), starts, ends, offsets.cpu().long()
