"""The important heads of every task: the top of one ranking, or found step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from mtlspec.analyses._importance import normalised
from mtlspec.model.head_sets import Floats, Mask, top_heads
from mtlspec.model.importance import Annotated, head_importance
from mtlspec.model.multitask import MultiTaskModel

if TYPE_CHECKING:
    from mtlspec.analyses.iap import Options

Ranking = Callable[[int | None, Mask | None], Floats]
"""(task, heads that are off already) -> importance [T, L, H]; only that task's part counts, or all if it is None."""


def ranking(options: Options, model: MultiTaskModel, batches: Sequence[Annotated]) -> Ranking:
    """Importance of heads on some sentences; NaN where a layer has no such head, and for tasks without annotation."""
    heads = model.encoder.heads
    there = np.arange(heads.shape[1]) < np.array(heads.counts)[:, None]

    def rank(task: int | None, off: Mask | None) -> Floats:
        asked = batches if task is None else [(batch, _only(task, golds)) for batch, golds in batches]
        gates = nullcontext() if off is None else heads.gated(torch.from_numpy(~off).to(model.device, torch.float32))
        with gates:
            found = head_importance(model.sharing, model.tasks, asked, token_abs=options.method == "token_abs")
        values: npt.NDArray[np.float64] = normalised(found, options.normalise).numpy()
        return np.where(there, values, np.nan)

    return rank


def _only(task: int, golds: Sequence[object]) -> list[object]:
    return [gold if number == task else None for number, gold in enumerate(golds)]


def step_by_step(rank: Ranking, task: int, first: Floats, count: int, step: int) -> Mask:
    """Heads off in steps of so many, each chosen by the importance of what is left; `first` [L, H] ranks the first.

    A head that only works once another one is gone has no importance as long as that one is there.
    """
    off, values = np.zeros(first.shape, np.bool_), first
    while True:
        off = off | top_heads(np.where(off, np.nan, values), min(step, count - int(off.sum())))
        if int(off.sum()) == count:
            return off
        values = rank(task, off)[task]
