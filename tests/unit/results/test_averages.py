"""Averages over tasks: how they are compared, where there is nothing to find and where tasks share their examples."""

from __future__ import annotations

import numpy as np
import pytest

from bench._simulated import World
from bench.calibration import simulated
from mtlspec.metrics.runs import Floats, Runs
from mtlspec.results.averages import Averaged, compared
from mtlspec.results.inference import compare_scores

TIMES = 200


def _averaged(runs: dict[str, Runs], time: int) -> Averaged:
    scores = {task: tuple(own.scores[time].tolist()) for task, own in runs.items()}
    pulls: dict[str, Floats] = {task: own.pulls[time] for task, own in runs.items() if own.pulls is not None}
    return Averaged("", scores, (), pulls)


def test_the_test_of_averages_errs_rarely_where_one_of_seeds_errs_often() -> None:
    """Three tasks, two of them with as many examples; both sides are trained in the same way."""
    worlds = {"a": World(examples=60), "b": World(examples=60), "c": World(examples=40)}
    drawn = {
        task: simulated(world, "accuracy", (3, 3), TIMES, seed) for seed, (task, world) in enumerate(worlds.items())
    }
    ours, theirs = ({task: pair[side] for task, pair in drawn.items()} for side in (0, 1))
    found, by_seeds = 0, 0
    for time in range(TIMES):
        a, b = _averaged(ours, time), _averaged(theirs, time)
        p, p_by_seeds = compared(a, b).p, compare_scores(a.averages(), b.averages(), power=False).p
        assert p is not None
        assert p_by_seeds is not None
        found, by_seeds = found + (p < 0.05), by_seeds + (p_by_seeds < 0.05)
    assert found / TIMES < 0.09
    assert by_seeds / TIMES > found / TIMES


def test_what_examples_do_to_an_average_adds_up_to_its_jackknife() -> None:
    """Of means over examples, without an example that both of two tasks read the average changes by its pulls."""
    rng = np.random.default_rng(3)
    right = {"a": rng.random((2, 5)), "b": rng.random((2, 5)), "c": rng.random((2, 3))}
    pulls = {task: own - own.mean(axis=1, keepdims=True) for task, own in right.items()}
    averaged = Averaged("", {task: tuple(own.mean(axis=1).tolist()) for task, own in right.items()}, (), pulls)
    runs = averaged.runs()
    assert runs.pulls is not None
    assert runs.pulls.shape == (2, 8)
    without = (right["a"][:, 1:].mean(1) + right["b"][:, 1:].mean(1) + right["c"].mean(1)) / 3
    assert (runs.scores - without) * (5 - 1) * 8 / 5 == pytest.approx(runs.pulls[:, 0])
