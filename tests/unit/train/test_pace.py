"""When resume points are written: by updates, or by what they cost."""

from __future__ import annotations

from itertools import pairwise

from mtlspec.train.pace import Pace


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def written(size: int, cost: float, update: float = 0.5, hours: float = 1.0) -> list[float]:
    """When points are written in a training whose updates take so many seconds, and its points so many to write."""
    clock = Clock()
    pace, times = Pace(None, clock), list[float]()

    def point() -> int:
        times.append(clock.now)
        clock.now += cost
        return size

    while clock.now < hours * 3600:
        clock.now += update
        if pace.due(1, epoch_ended=True):
            pace.write(point)
    return times


def test_small_points_come_every_half_minute() -> None:
    times = written(size=1_000_000, cost=0.01)
    assert len(times) in (118, 119, 120)
    assert all(30 <= after - before < 31 for before, after in pairwise(times))


def test_slow_points_take_at_most_a_fiftieth_of_the_time() -> None:
    times = written(size=1_000_000, cost=6.0)
    assert all(300 <= after - before <= 308 for before, after in pairwise(times))


def test_large_points_do_not_wear_out_the_disk() -> None:
    """BERT with Adam's moments and the best weights: what was 300 GB in a training is 11 GB an hour."""
    size = 4 * 110_000_000 * 4
    times = written(size, cost=2.0, hours=10)
    assert len(times) > 2
    assert size * len(times) / 10 < 11e9


def test_a_number_of_updates_is_taken_literally() -> None:
    pace = Pace(4, Clock())
    assert [update for update in range(1, 11) if pace.due(update, epoch_ended=update == 10)] == [4, 8, 10]
