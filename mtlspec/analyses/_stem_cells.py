"""Heads that several tasks use, and how many chance would give.

Stem cells are heads that at least `least` tasks keep. Their number is no measure of agreement: where two tasks keep
nearly all heads, three others that agree have *fewer* heads that three tasks keep. So the test counts what any `least`
tasks have in common, on average over all such sets of tasks, which grows with every agreement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.analyses._gates import Gated
from mtlspec.errors import StageError
from mtlspec.results.contrast import same_counts, share_reaching
from mtlspec.results.kept import kept_heads

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Common:
    """Which tasks use which heads: used bool [tasks, layers, heads] (kept in more than half of a task's runs)."""

    tasks: tuple[str, ...]
    used: Mask
    least: int
    shared: float  # heads that `least` tasks have in common, on average over all sets of so many tasks
    expected: float  # the same by chance, on average over shuffles within layers
    p: float  # share of shuffles with at least as many
    p_fewer: float  # share of shuffles with at most as many
    most: float  # the same if tasks that keep as many heads of each layer agreed as far as they can
    p_most: float  # share of shuffles with as many as that
    there: Mask  # bool [layers, heads]: layers may have fewer heads than the widest
    beyond: Floats  # [seeds]: shared minus expected of each seed's own models; seeds that all tasks have

    @property
    def stem(self) -> Mask:
        """bool [layers, heads]"""
        return np.asarray(self.used.sum(0) >= self.least)


def common_heads(gated: Sequence[Gated], least: int, draws: int, seed: int) -> Common:
    """Heads that several tasks keep, against tasks that keep as many heads of each layer at random."""
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
    heads = gated[0].counts
    there = np.arange(used.shape[2]) < np.array(heads)[:, None]
    shuffled = sum(  # every task keeps as many heads of each layer, whichever they are
        same_counts(own, there)(draws, (seed << 32) + number).astype(np.int16) for number, own in enumerate(used)
    )
    observed, nested = (float(shared_heads(users, len(used), least)) for users in (used.sum(0), _nested(used)))
    counts = shared_heads(np.asarray(shuffled), len(used), least)
    p, fewer, p_most = (
        share_reaching(observed, counts),
        share_reaching(-observed, -counts),
        share_reaching(nested, counts),
    )
    beyond = np.array([_beyond_chance(own, heads, least) for own in _of_seeds(list(by_task.values()))])
    return Common(
        tuple(by_task),
        used,
        least,
        float(observed),
        float(counts.mean()),
        p,
        fewer,
        float(nested),
        p_most,
        there,
        beyond,
    )


def shared_heads(users: npt.NDArray[np.integer[Any]], tasks: int, least: int) -> Floats:
    """users [..., layers, heads]: how many tasks keep each head -> [...]: heads that `least` of them have in common."""
    of_head = np.array([comb(number, least) for number in range(tasks + 1)]) / comb(tasks, least)
    return np.asarray(of_head[users].sum((-2, -1)))


def _nested(used: Mask) -> npt.NDArray[np.int64]:
    """The users of heads [layers, heads] if every task kept the first heads of each layer, as many as it keeps.

    Sets that lie within each other share the most, whatever `least` is.
    """
    return np.asarray((np.arange(used.shape[2]) < used.sum(2)[..., None]).sum(0))


def _of_seeds(gated: Sequence[Gated]) -> list[Mask]:
    """[tasks, layers, heads] for each seed that all tasks have, in order."""
    seeds = sorted(set.intersection(*(set(one.variant.seeds) for one in gated)))
    return [np.stack([kept_heads(one.gates[one.variant.seeds.index(seed)]) for one in gated]) for seed in seeds]


def _beyond_chance(used: Mask, counts: Sequence[int], least: int) -> float:
    """What `least` of used [tasks, layers, heads] share, minus its exact expectation under shuffles within layers."""
    expected = 0.0
    for kept, heads in zip(used.sum(2).T, counts, strict=True):
        products = np.array([1.0])  # sums over all sets of 0, 1, 2 ... tasks of the product of their shares
        for share in kept / max(heads, 1):
            products = np.convolve(products, [1.0, share])
        expected += heads * float(products[least]) / comb(len(used), least)
    return float(shared_heads(used.sum(0), len(used), least)) - expected
