"""Heads that several tasks use, and how many chance would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mtlspec.analyses._gates import Gated
from mtlspec.errors import StageError
from mtlspec.results.contrast import same_counts
from mtlspec.results.kept import kept_heads

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Common:
    """Which tasks use which heads: used bool [tasks, layers, heads] (kept in more than half of a task's runs)."""

    tasks: tuple[str, ...]
    used: Mask
    least: int
    expected: float  # stem cells by chance, on average over shuffles within layers
    p: float  # share of shuffles with at least as many
    p_fewer: float  # share of shuffles with at most as many
    most: int  # stem cells if tasks that keep as many heads of each layer agreed as far as they can
    p_most: float  # share of shuffles with as many as that
    there: Mask  # bool [layers, heads]: layers may have fewer heads than the widest
    beyond: Floats  # [seeds]: stem cells of each seed's own models beyond those by chance; seeds that all tasks have

    @property
    def stem(self) -> Mask:
        """bool [layers, heads]"""
        return np.asarray(self.used.sum(0) >= self.least)


def common_heads(gated: Sequence[Gated], least: int, draws: int, seed: int) -> Common:
    """Heads that at least `least` tasks keep, against tasks that keep as many heads of each layer at random."""
    by_task: dict[str, Gated] = {}
    for one in gated:  # of several values of lambda, the first speaks for its task
        by_task.setdefault(one.variant.tasks[0], one)
    if len(by_task) < max(2, least):
        have = "1 task has" if len(by_task) == 1 else f"{len(by_task)} tasks have"
        raise StageError(
            "E461",
            f"{have} gated models, but stem cells are heads of at least {max(2, least)} tasks",
            hint="name groups of single-task models with `sharing: l0`, or lower `tasks_at_least`",
        )
    used = np.stack([kept_heads(one.gates).mean(0) > 0.5 for one in by_task.values()])
    observed = int((used.sum(0) >= least).sum())
    heads = gated[0].counts
    there = np.arange(used.shape[2]) < np.array(heads)[:, None]
    shuffled = sum(  # every task keeps as many heads of each layer, whichever they are
        same_counts(own, there)(draws, (seed << 32) + number).astype(np.int16) for number, own in enumerate(used)
    )
    counts = (np.asarray(shuffled) >= least).sum((1, 2))
    layers = zip(used.transpose(1, 0, 2), heads, strict=True)
    most = sum(most_in_common(layer.sum(1).tolist(), number, least) for layer, number in layers)
    reached = (counts >= observed, counts <= observed, counts >= most)
    p, fewer, p_most = ((1 + int(found.sum())) / (1 + draws) for found in reached)
    beyond = np.array([_beyond_chance(own, heads, least) for own in _of_seeds(list(by_task.values()))])
    return Common(tuple(by_task), used, least, float(counts.mean()), p, fewer, most, p_most, there, beyond)


def _of_seeds(gated: Sequence[Gated]) -> list[Mask]:
    """[tasks, layers, heads] for each seed that all tasks have, in order."""
    seeds = sorted(set.intersection(*(set(one.variant.seeds) for one in gated)))
    return [np.stack([kept_heads(one.gates[one.variant.seeds.index(seed)]) for one in gated]) for seed in seeds]


def _beyond_chance(used: Mask, counts: Sequence[int], least: int) -> float:
    """Stem cells of used [tasks, layers, heads] minus their exact expectation under shuffles within layers."""
    expected = 0.0
    for kept, heads in zip(used.sum(2).T, counts, strict=True):
        chances = np.array([1.0])  # that a head of this layer is kept by 0, 1, 2 ... tasks
        for share in kept / max(heads, 1):
            chances = np.convolve(chances, [1 - share, share])
        expected += heads * float(chances[least:].sum())
    return int((used.sum(0) >= least).sum()) - expected


def most_in_common(kept: Sequence[int], heads: int, least: int) -> int:
    """The greatest number of heads that `least` tasks each can share, if task t keeps kept[t] of them."""
    fitting = (number for number in range(heads, 0, -1) if sum(min(own, number) for own in kept) >= least * number)
    return next(fitting, 0)
