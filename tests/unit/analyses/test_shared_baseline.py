"""`pair_predicts_all`: both gains are over the same single models, and their luck must not look like a prediction."""

from __future__ import annotations

import numpy as np
import pytest

from mtlspec.analyses._transfer.prediction import Prediction, predict
from mtlspec.analyses._transfer.shared_luck import LEAST, rank_correlation
from mtlspec.results.transfer import Score, Transfer

TASKS = tuple("abcdefghijk")
SEEDS, TRIALS = 3, 120


def study(
    rng: np.random.Generator, of_pairs: np.ndarray, of_all: np.ndarray, scatter: np.ndarray, seeds: int = SEEDS
) -> Transfer:
    """Scores around 60 that pairs and all tasks together change by so much [T], and how far runs scatter [T]."""

    def score(task: int, change: float) -> Score:
        runs = rng.normal(60 + change, scatter[task], seeds)
        return Score(float(runs.mean()), runs=tuple(runs.tolist()))

    numbers = range(len(TASKS))
    pairs = {
        TASKS[partner]: {TASKS[task]: score(task, of_pairs[task]) for task in numbers if task != partner}
        for partner in numbers
    }
    alone = {TASKS[task]: score(task, 0.0) for task in numbers}
    return Transfer("pair", TASKS, alone, pairs, all={TASKS[task]: score(task, of_all[task]) for task in numbers})


def trials(effect: float, scatter: np.ndarray, same: bool) -> list[Prediction]:
    """Studies in which pairs change tasks by so much at random, and all tasks together alike, or in another way."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(TRIALS):
        changes = rng.normal(0, effect, (2, len(TASKS)))
        found.append(predict(study(rng, changes[0], changes[0 if same else 1], scatter), 300, 1))
    return found


def share_found(found: list[Prediction]) -> float:
    return float(np.mean([one.p is not None and one.p < 0.05 for one in found]))


EVEN, UNEVEN = np.ones(len(TASKS)), np.exp(np.linspace(-1.5, 1.5, len(TASKS)))


@pytest.mark.parametrize("scatter", [EVEN, UNEVEN], ids=["even", "uneven"])
@pytest.mark.parametrize("effect", [0.0, 1.0, 5.0])
def test_gains_that_have_nothing_to_do_with_each_other_are_called_so(effect: float, scatter: np.ndarray) -> None:
    found = trials(effect, scatter, same=False)
    assert share_found(found) <= 0.09  # 5 %, and what 120 trials scatter
    assert abs(float(np.mean([one.rho for one in found if one.rho is not None]))) < 0.08


def test_over_the_same_single_models_they_would_look_alike() -> None:
    """The control that fails: half of such tables without any help would have been called a prediction."""
    rng, none = np.random.default_rng(1), np.zeros(len(TASKS))
    plain = []
    for _ in range(TRIALS):
        found = study(rng, none, none, EVEN)
        alone = np.array([found.alone[task].mean for task in TASKS])
        pairs = np.array([found.average(task) for task in TASKS])
        plain.append(float(rank_correlation(pairs - alone, np.array([found.all[t].mean for t in TASKS]) - alone)))
    assert float(np.mean(plain)) > 0.5


def test_pairs_that_tell_are_found_out() -> None:
    assert share_found(trials(5.0, EVEN, same=True)) > 0.95


def test_without_seeds_or_with_few_tasks_nothing_is_claimed() -> None:
    rng, none = np.random.default_rng(1), np.zeros(len(TASKS))
    found = predict(study(rng, none, none, EVEN, seeds=1), 300, 1)
    assert found.rho is not None and found.p is None and found.interval is None
    few = study(rng, none, none, EVEN)
    tasks = TASKS[: LEAST - 1]
    small = Transfer("pair", tasks, *({t: s[t] for t in tasks} for s in (few.alone, few.pairs)), all=few.all)
    assert predict(small, 300, 1).rho is None


def test_rank_correlations_of_many_rows_are_scipys() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 4, (2, 20, 6)).astype(float)
    for row, own in enumerate(rank_correlation(x, y)):
        assert own == pytest.approx(spearmanr(x[row], y[row]).statistic, nan_ok=True)
