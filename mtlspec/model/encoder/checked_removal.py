"""Pruning with proof: heads are removed from an encoder, and it must still compute what its gated form computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from mtlspec.data.batching import Batch
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.compare import difference, evaluating, random_pieces
from mtlspec.model.encoder.encoder import Encoder

TOLERANCE = 1e-5


@dataclass(frozen=True)
class PruneReport:
    """What was removed, and how far the pruned encoder is from the gated one on a real batch."""

    max_difference: float  # of states, relative to the largest one where that is above 1
    kept: tuple[tuple[int, ...], ...]  # original numbers of each layer's heads
    heads_before: int
    heads_after: int
    parameters_before: int
    parameters_after: int

    def facts(self) -> dict[str, Any]:
        return {
            "max_difference": self.max_difference,
            "kept": [list(heads) for heads in self.kept],
            "heads": {"before": self.heads_before, "after": self.heads_after},
            "parameters": {"before": self.parameters_before, "after": self.parameters_after},
        }


class HasEncoder(Protocol):
    @property
    def encoder(self) -> Encoder: ...


def prune_model(model: Encoder | HasEncoder, gates: Tensor, batch: Batch | None = None) -> PruneReport:
    """Remove the heads whose gate [L, H] is 0 from a model's encoder, in place, and fold the other gates in.

    A batch (without one, random sub-tokens) is run gated before and pruned afterwards, in evaluation mode. An error if
    the two differ by more than 1e-5: the model must then be thrown away.
    """
    encoder = model if isinstance(model, Encoder) else model.encoder
    pieces, mask = random_pieces(encoder) if batch is None else (batch.pieces, batch.piece_mask)
    heads, parameters = sum(encoder.heads.counts), _count(encoder)
    with evaluating(encoder), torch.no_grad():
        with encoder.heads.gated(gates.to(pieces.device)):
            expected = _real_states(encoder, pieces, mask)
        encoder.heads.remove(gates)
        found = difference(expected, _real_states(encoder, pieces, mask))
    if not found <= TOLERANCE:
        raise EncoderError("E353", f"the pruned encoder differs from the gated one by {found:.1e}, not by 1e-5 at most")
    kept, after = encoder.heads.kept, sum(encoder.heads.counts)
    return PruneReport(found, kept, heads, after, parameters, _count(encoder))


def _real_states(encoder: Encoder, pieces: Tensor, mask: Tensor) -> Tensor:
    """Last-layer states of all sub-tokens that are not padding, [N, D]."""
    return encoder.hidden(pieces, mask)[mask]


def _count(encoder: Encoder) -> int:
    return sum(parameter.numel() for parameter in encoder.parameters())
