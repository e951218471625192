"""Learning rates, patience and plateaus, value by value."""

from __future__ import annotations

import math

import pytest

from mtlspec.spec.models import Plateau, TrainOptions
from mtlspec.train.schedule import Patience, rate_factor


def test_linear_schedule_rises_and_falls() -> None:
    options = TrainOptions(warmup=0.2)
    found = [rate_factor(options, update, 10) for update in range(1, 11)]
    assert found == pytest.approx([1 / 2, 1, 8 / 9, 7 / 9, 6 / 9, 5 / 9, 4 / 9, 3 / 9, 2 / 9, 1 / 9])


def test_constant_schedule_and_no_warmup() -> None:
    constant = TrainOptions(schedule="constant", warmup=0.5)
    assert [rate_factor(constant, update, 4) for update in (1, 2, 3, 4)] == [0.5, 1, 1, 1]
    assert rate_factor(TrainOptions(warmup=0.0), 1, 4) == 1
    assert rate_factor(TrainOptions(warmup=1.0), 4, 4) == 1


@pytest.mark.parametrize(("fraction", "epochs", "limit"), [(0.5, 5, 3), (0.0, 5, 1), (1.0, 5, 5), (0.34, 3, 2)])
def test_patience_is_a_share_of_the_epochs(fraction: float, epochs: int, limit: int) -> None:
    assert Patience.of(TrainOptions(patience=fraction, epochs=epochs)).limit == limit


def test_training_stops_after_patience_epochs_without_a_better_score() -> None:
    patience = Patience(limit=2, plateau=None)
    assert [patience.observe(epoch, score) for epoch, score in enumerate([50, 60, 60, 61, 61, 60.9], 1)] == [
        True, True, False, True, False, False,
    ]  # fmt: skip
    assert patience.exhausted
    assert (patience.best, patience.best_epoch) == (61, 4)


def test_full_patience_never_stops() -> None:
    patience = Patience.of(TrainOptions(patience=1.0, epochs=4))
    for epoch in range(1, 5):
        patience.observe(epoch, 100 - epoch)
        assert epoch == 4 or not patience.exhausted


def test_plateau_cuts_after_its_patience_and_again() -> None:
    patience = Patience(limit=99, plateau=Plateau(factor=0.5, patience=2))
    scales = []
    for epoch, score in enumerate([10, 9, 9, 9, 9, 11, 9, 9], 1):
        patience.observe(epoch, score)
        scales.append(patience.scale)
    assert scales == [1, 1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125]


def test_patience_state_round_trip_also_before_the_first_epoch() -> None:
    patience = Patience(limit=2, plateau=None)
    other = Patience(limit=2, plateau=None)
    other.load_state(patience.state())
    assert other.best == -math.inf
    patience.observe(1, 70.25)
    patience.observe(2, 1.0)
    other.load_state(patience.state())
    assert other == patience
