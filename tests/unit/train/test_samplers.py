"""Samplers draw what their definitions say, and continue exactly from a saved state."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from mtlspec.contract.drawing import view
from mtlspec.kinds import names, options_class
from mtlspec.spec.families import SAMPLERS, SamplerOptions
from mtlspec.train.sampling import Part, Sampler, TaskSizes, power_law

SIZES = TaskSizes(examples=(1175, 1175, 1175, 1175, 936), batches=(37, 37, 37, 37, 30))


def build(kind: str, sizes: TaskSizes, sentences: int = 32, epochs: int = 5, seed: int = 1, **options: Any) -> Sampler:
    made = options_class(SAMPLERS, kind).model_validate({"type": kind, **options})
    assert isinstance(made, SamplerOptions)
    return made.build(sizes, sentences, epochs, seed)


def draws(sampler: Sampler, number: int, epoch: int = 1) -> list[list[tuple[int, list[int]]]]:
    """What so many draws take: (task, rows) of every part."""
    seen = view(sampler.sizes, epoch)
    return [[(part.task, part.rows.tolist()) for part in sampler.draw(seen)] for _ in range(number)]


def shares(sampler: Sampler, number: int, epoch: int = 1) -> list[float]:
    counts = np.zeros(len(SIZES))
    seen = view(sampler.sizes, epoch)
    for _ in range(number):
        (part,) = sampler.draw(seen)
        counts[part.task] += 1
    return [float(count) / number for count in counts]


def test_power_08_gives_the_expected_draws_of_the_paper_setting() -> None:
    expected = [round(5636 * p) for p in power_law(SIZES.examples, 0.8)]
    assert expected == [1166, 1166, 1166, 1166, 972]
    assert shares(build("power", SIZES), 20_000) == pytest.approx(power_law(SIZES.examples, 0.8), abs=0.01)


@pytest.mark.parametrize(
    ("kind", "options", "weights"),
    [
        ("random", {}, (1, 1, 1, 1, 1)),
        ("proportional", {}, SIZES.examples),
        ("square_root", {}, [n**0.5 for n in SIZES.examples]),
        ("power", {"alpha": 2.0}, [n**2 for n in SIZES.examples]),
        ("power", {"alpha": 1.0, "count": "batches"}, SIZES.batches),
    ],
)
def test_draws_follow_the_definition(kind: str, options: dict[str, Any], weights: list[float]) -> None:
    expected = np.array(weights) / sum(weights)
    assert shares(build(kind, SIZES, **options), 20_000) == pytest.approx(expected, abs=0.01)


def test_annealed_goes_from_proportional_to_the_power_02() -> None:
    sizes = TaskSizes((1000, 10, 10, 10, 10), (1,) * 5)
    for epoch, exponent in ((1, 1.0), (3, 0.6), (5, 0.2)):
        expected = power_law(sizes.examples, exponent)
        assert shares(build("annealed", sizes), 20_000, epoch) == pytest.approx(expected, abs=0.012)
    assert shares(build("annealed", sizes, epochs=1), 20_000)[0] == pytest.approx(1000 / 1040, abs=0.01)


def test_round_robin_takes_turns() -> None:
    sampler = build("round_robin", TaskSizes((5, 900, 3), (1, 9, 1)))
    assert [parts[0][0] for parts in draws(sampler, 7)] == [0, 1, 2, 0, 1, 2, 0]


@given(tasks=st.integers(1, 7), sentences=st.integers(1, 40), steps=st.integers(1, 30))
def test_balanced_batches_hold_all_tasks_and_rotate_the_remainder(tasks: int, sentences: int, steps: int) -> None:
    sampler = build("balanced", TaskSizes((100,) * tasks, (5,) * tasks), sentences)
    totals = np.zeros(tasks, dtype=int)
    for parts in draws(sampler, steps):
        counts = [len(rows) for _, rows in parts]
        assert [task for task, _ in parts] == list(range(tasks))
        assert sum(counts) == max(sentences, tasks)
        assert max(counts) - min(counts) <= 1
        totals += counts
    assert totals.max() - totals.min() <= 1  # over any stretch from the start nobody is ahead by more


@pytest.mark.parametrize("kind", names(SAMPLERS))
def test_a_saved_sampler_continues_the_same_stream(kind: str) -> None:
    sampler, other = build(kind, SIZES), build(kind, SIZES)
    draws(sampler, 17, epoch=2)
    other.load_state(json.loads(json.dumps(sampler.state())))
    assert draws(sampler, 40, epoch=2) == draws(other, 40, epoch=2)


@pytest.mark.parametrize("kind", ["random", "power", "annealed"])
def test_seeds_give_different_streams(kind: str) -> None:
    first, second = build(kind, SIZES, seed=1), build(kind, SIZES, seed=2)
    assert draws(first, 40) != draws(second, 40)


@pytest.mark.parametrize("kind", names(SAMPLERS))
def test_one_task_is_always_drawn(kind: str) -> None:
    sampler = build(kind, TaskSizes((3,), (1,)), sentences=8)
    assert {task for parts in draws(sampler, 10) for task, _ in parts} == {0}
    assert isinstance(sampler.draw(view(sampler.sizes))[0], Part)


def test_an_epoch_has_the_batches_of_all_tasks_or_those_that_all_examples_fill() -> None:
    sizes = TaskSizes((100, 10), (30, 5))
    assert build("power", sizes, sentences=8).batches_per_epoch() == 35
    assert build("balanced", sizes, sentences=8).batches_per_epoch() == 14  # 110 examples, 8 in a batch
    assert build("balanced", sizes, sentences=1).batches_per_epoch() == 55  # one of each task, more than was said


def test_an_epoch_of_balanced_batches_is_a_pass_over_the_smallest_task_or_as_long_as_is_said() -> None:
    sizes = TaskSizes((12543, 880, 8936), (400, 28, 280))
    assert build("balanced", sizes, sentences=32, epoch="smallest").batches_per_epoch() == 83  # 880 x 3 / 32 = 82.5
    assert build("balanced", sizes, sentences=32, epoch=500).batches_per_epoch() == 500
    one = TaskSizes((880,), (28,))
    assert build("balanced", one, epoch="smallest").batches_per_epoch() == build("balanced", one).batches_per_epoch()
    sampler, taken = build("balanced", sizes, sentences=32, epoch="smallest"), set()
    for parts in draws(sampler, sampler.batches_per_epoch()):
        taken |= set(parts[1][1])
    assert taken == set(range(880))


def test_an_epoch_of_balanced_batches_can_have_as_many_examples_of_every_task_beside_any_others() -> None:
    sizes = TaskSizes((600, 100, 140, 450), (38, 7, 9, 29))
    for count in range(1, 5):
        some = TaskSizes(sizes.examples[:count], sizes.batches[:count])
        sampler = build("balanced", some, sentences=16, epoch={"examples": 400})
        assert sampler.batches_per_epoch() == 25 * count
        read = [0] * count
        for parts in draws(sampler, sampler.batches_per_epoch()):
            for task, rows in parts:
                read[task] += len(rows)
        assert all(abs(number - 400) <= 1 for number in read)
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        build("balanced", sizes, epoch={"examples": 0})


def test_the_remainder_can_stay_with_the_first_tasks() -> None:
    sampler = build("balanced", TaskSizes((99,) * 5, (9,) * 5), sentences=12, remainder="first")
    assert [[len(rows) for _, rows in parts] for parts in draws(sampler, 3)] == [[3, 3, 2, 2, 2]] * 3


def test_per_task_a_model_of_any_tasks_takes_as_many_updates_with_as_many_examples_of_each() -> None:
    sizes = (600, 100, 140, 450)
    for count in range(1, 5):
        sampler = build("per_task", TaskSizes(sizes[:count], (9,) * count), sentences=16, examples=6, epoch=50)
        assert sampler.batches_per_epoch() == 50
        for parts in draws(sampler, 50):
            assert [(task, len(rows)) for task, rows in parts] == [(task, 6) for task in range(count)]


def test_an_epoch_per_task_is_a_pass_over_the_largest_task_or_the_smallest() -> None:
    sizes = TaskSizes((601, 100), (9, 9))
    assert build("per_task", sizes, examples=6).batches_per_epoch() == 101
    sampler = build("per_task", sizes, examples=6, epoch="smallest")
    assert sampler.batches_per_epoch() == 17  # 100 / 6, and two examples again
    taken = [row for parts in draws(sampler, 17) for row in parts[1][1]]
    assert set(taken) == set(range(100)) and len(taken) == 102
