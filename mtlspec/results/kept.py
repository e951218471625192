"""Which heads a model keeps: the one meaning of "kept" in tables, figures, tests and facts.

A head is kept if its gate of evaluation is above zero. Shares are of the heads that are there: where layers differ in
their number of heads, places of a map [layers, heads] that are no heads do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mtlspec.results.history import read_epochs, read_history


def kept_heads(gates: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Gates of evaluation [..., layers, heads] -> which heads are kept."""
    return np.asarray(gates > 0)


def kept_share(gates: npt.NDArray[np.float64], counts: Sequence[int]) -> float:
    """The share of heads that gates [layers, heads] keep; `counts` are the heads of each layer."""
    return int(kept_heads(gates).sum()) / sum(counts)


def kept_by_layer(gates: npt.NDArray[np.float64], counts: Sequence[int]) -> list[float]:
    """The same for each layer; 0 for a layer without heads."""
    return [int(kept) / max(count, 1) for kept, count in zip(kept_heads(gates).sum(1), counts, strict=True)]


def recorded_share(train_artifact: Path) -> float | None:
    """The share that training recorded with the weights that it kept; None for a model without gates.

    The history has one row for every update, and the strategy writes the share after each of them.
    """
    _, columns = read_history(train_artifact)
    if "gates_kept" not in columns:
        return None
    best = max((epoch for epoch in read_epochs(train_artifact) if epoch.best), key=lambda epoch: epoch.number)
    return float(columns["gates_kept"][columns["epoch"] <= best.number][-1])
