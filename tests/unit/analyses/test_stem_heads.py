"""Heads that several tasks use, beside what chance gives."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.analyses._gates import Gated
from mtlspec.analyses._stem_cells import Common, common_heads, shared_heads
from mtlspec.analyses._stem_claims import Claim, claims
from mtlspec.errors import StageError
from mtlspec.results.variants import Variant
from tests.model_rows import model_row
from tests.unit.analyses.planted_stem_cells import HEADS, LAYERS, STEM, TASKS, planted_gates


def _first(common: Common) -> Claim:
    return claims(common, [], 0.05, 2.0, 99, 1)[0]


def test_planted_stem_cells_are_found_beyond_chance() -> None:
    common = common_heads([planted_gates(task, STEM, i) for i, task in enumerate(TASKS)], least=4, draws=500, seed=1)
    assert [tuple(place) for place in np.argwhere(common.stem)] == STEM
    assert common.p < 0.01
    assert common.expected < 1 < 4 <= common.shared
    assert (common.beyond > 2).all()
    assert _first(common).shown == "shown"


def test_what_chance_gives_is_the_mean_over_shuffles() -> None:
    gated = [planted_gates(task, STEM, i) for i, task in enumerate(TASKS)]
    alone = [
        Gated(Variant("dp", one.variant.tasks, (), one.variant.runs[1:2]), one.gates[1:2], one.use[1:2], one.counts)
        for one in gated
    ]
    common = common_heads(alone, least=2, draws=4000, seed=1)
    assert common.shared - common.beyond[0] == pytest.approx(common.expected, abs=0.1)


def test_places_without_a_head_are_never_drawn() -> None:
    gated = []
    for task in TASKS:
        gates = np.zeros((2, 2, HEADS))
        gates[:, 0, :2] = gates[:, 1, :4] = 1.0
        runs = tuple(model_row("dp", (task,), seed) for seed in (1, 2))
        gated.append(Gated(Variant("dp", (task,), (), runs), gates, gates, (2, HEADS)))
    common = common_heads(gated, least=5, draws=200, seed=1)
    assert common.most == 6
    assert 2 <= common.expected < 3  # the two heads of the first layer are always in common


def test_heads_at_random_are_not_beyond_chance() -> None:
    rng = np.random.default_rng(0)
    keep = [[(layer, int(h)) for layer in range(LAYERS) for h in rng.permutation(HEADS)[:3]] for _ in TASKS]
    common = common_heads([planted_gates(task, keep[i], i) for i, task in enumerate(TASKS)], least=3, draws=500, seed=1)
    assert common.p > 0.05
    assert _first(common).shown == "open"


def test_tasks_that_keep_everything_prove_nothing() -> None:
    all_heads = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    common = common_heads([planted_gates(task, all_heads, 1) for task in TASKS], least=3, draws=100, seed=1)
    assert common.stem.all()
    assert _first(common).shown == "open"


def _kept_by(kept: dict[str, list[tuple[int, int]]]) -> list[Gated]:
    gated = []
    for task, places in kept.items():
        gates = np.zeros((3, LAYERS, HEADS))
        gates[(slice(None), *np.array(places).T)] = 1.0
        runs = tuple(model_row("dp", (task,), seed) for seed in (1, 2, 3))
        gated.append(Gated(Variant("dp", (task,), (), runs), gates, gates, (HEADS,) * LAYERS))
    return gated


ALL = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]


def test_tasks_that_close_the_same_few_heads_agree() -> None:
    kept = [place for place in ALL if place not in STEM]
    assert _first(common_heads(_kept_by(dict.fromkeys(TASKS, kept)), least=3, draws=500, seed=1)).shown == "shown"


def test_agreement_of_three_tasks_counts_beside_two_that_keep_everything() -> None:
    """Their heads are then those of at least three tasks: the more they agree, the fewer these are."""
    few, rng = [(layer, head) for layer in range(LAYERS) for head in (0, 3, 6)], np.random.default_rng(0)
    agreeing = common_heads(_kept_by({"a": ALL, "b": ALL, "c": few, "d": few, "e": few}), least=3, draws=500, seed=1)
    assert agreeing.stem.sum() == 12
    assert _first(agreeing).shown == "shown"
    avoiding = {"a": ALL, "b": ALL}
    for task, own in zip("cde", ((0, 1, 2), (3, 4, 5), (6, 7, 0)), strict=True):
        avoiding[task] = [(layer, head) for layer in range(LAYERS) for head in own]
    apart = common_heads(_kept_by(avoiding), least=3, draws=500, seed=1)
    assert apart.stem.all()
    assert _first(apart).shown == "contradicted"
    at_random = {
        task: [(layer, int(head)) for layer in range(LAYERS) for head in rng.permutation(8)[:3]] for task in "cde"
    }
    assert _first(common_heads(_kept_by({"a": ALL, "b": ALL, **at_random}), least=3, draws=500, seed=1)).shown == "open"


@given(st.lists(st.integers(0, 3), min_size=2, max_size=3), st.integers(1, 3))
def test_what_tasks_share_is_counted_set_by_set_and_most_where_sets_are_nested(kept: list[int], least: int) -> None:
    heads, tasks = 3, len(kept)
    least = min(least, tasks)

    def shared(chosen: tuple[tuple[int, ...], ...]) -> float:
        sets = [set.intersection(*map(set, some)) for some in combinations(chosen, least)]
        return sum(map(len, sets)) / comb(tasks, least)

    def counted(chosen: tuple[tuple[int, ...], ...]) -> float:
        users = np.array([[sum(head in own for own in chosen) for head in range(heads)]])
        return float(shared_heads(users, tasks, least))

    choices = list(product(*(combinations(range(heads), own) for own in kept)))
    for chosen in choices:
        assert counted(chosen) == pytest.approx(shared(chosen))
    assert counted(tuple(tuple(range(own)) for own in kept)) == pytest.approx(max(map(shared, choices)))


def test_null_gates_pass_in_at_most_six_percent() -> None:
    """Five tasks keep 3 to 8 of 8 heads of each layer at random, in one model each."""
    rng, shown, number = np.random.default_rng(3), 0, 300
    for _ in range(number):
        kept = {task: [(layer, int(head)) for layer in range(LAYERS) for head in rng.permutation(8)[:own]]
                for task, own in zip(TASKS, (3, 3, 4, 7, 8), strict=True)}  # fmt: skip
        shown += common_heads(_kept_by(kept), least=3, draws=99, seed=1).p < 0.05
    assert shown <= 0.075 * number, shown


def test_too_few_tasks_are_refused() -> None:
    with pytest.raises(StageError, match=r"E461: 1 task has gated models"):
        common_heads([planted_gates("pos", STEM, 1)], least=2, draws=50, seed=1)
