"""`pair_predicts_all` where no task helps any other: the luck of the single models is in both of its gains."""

from __future__ import annotations

import numpy as np
import pytest

from mtlspec.analyses._transfer.prediction import predict
from mtlspec.results.transfer import Score, Transfer

TASKS = tuple("abcdefghijk")


def without_any_help(rng: np.random.Generator) -> Transfer:
    """Scores of eleven tasks in every setting: the same but for the scatter of three seeds."""

    def score() -> Score:
        return Score(float(rng.normal(60, 1, 3).mean()))

    pairs = {partner: {task: score() for task in TASKS if task != partner} for partner in TASKS}
    return Transfer("pair", TASKS, {task: score() for task in TASKS}, pairs, all={task: score() for task in TASKS})


def test_gains_over_the_same_scores_agree_without_any_help() -> None:
    """`docs/papers/sequence_tagging.md` says so, and how much."""
    rng = np.random.default_rng(1)
    found = [predict(without_any_help(rng), 200, 1) for _ in range(60)]
    rhos = [one.rho for one in found if one.rho is not None]
    small = [one.p < 0.05 for one in found if one.p is not None]
    assert len(rhos) == len(small) == 60
    assert float(np.mean(rhos)) == pytest.approx(0.6, abs=0.08)
    assert float(np.mean(small)) == pytest.approx(0.5, abs=0.15)
