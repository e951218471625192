"""Comparing two runs of an encoder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn


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
