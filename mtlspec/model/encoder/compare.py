"""Comparing two runs of an encoder, on a batch or, where there is none, on random sub-tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from mtlspec.model.encoder.encoder import Encoder


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """A module in evaluation mode, and back in the mode it was in."""
    training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(training)


def difference(expected: Tensor, found: Tensor) -> float:
    """The largest difference of two equally shaped tensors, relative where values are above 1; NaN if any is."""
    if not expected.numel():
        return 0.0
    return float(((expected - found).abs().max() / expected.abs().max().clamp(min=1)).item())


def random_pieces(encoder: Encoder, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Two rows of sub-tokens, int64 [2, 8], without padding, bool [2, 8]; on the encoder's device."""
    pieces = torch.randint(encoder.heads.config.vocab_size, (2, 8), generator=torch.Generator().manual_seed(seed))
    pieces = pieces.to(next(encoder.parameters()).device)
    return pieces, torch.ones_like(pieces, dtype=torch.bool)
