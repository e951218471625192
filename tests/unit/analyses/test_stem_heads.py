"""Heads that several tasks use, beside what chance gives."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.analyses._gates import Gated
from mtlspec.analyses._stem_cells import Common, common_heads, most_in_common
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
    assert common.expected < 1
    assert (common.beyond > 2).all()
    assert _first(common).shown == "shown"


def test_what_chance_gives_is_the_mean_over_shuffles() -> None:
    gated = [planted_gates(task, STEM, i) for i, task in enumerate(TASKS)]
    alone = [
        Gated(Variant("dp", one.variant.tasks, (), one.variant.runs[1:2]), one.gates[1:2], one.use[1:2], one.counts)
        for one in gated
    ]
    common = common_heads(alone, least=2, draws=4000, seed=1)
    assert common.stem.sum() - common.beyond[0] == pytest.approx(common.expected, abs=0.1)


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


def test_tasks_that_close_the_same_few_heads_contradict_nothing() -> None:
    """With few heads closed, agreement makes fewer stem cells, not more, and no agreement could make enough."""
    kept = [(layer, head) for layer in range(LAYERS) for head in range(HEADS) if (layer, head) not in STEM]
    gated = []
    for task in TASKS:
        gates = np.zeros((1, LAYERS, HEADS))
        gates[(0, *np.array(kept).T)] = 1.0
        gated.append(Gated(Variant("dp", (task,), (), (model_row("dp", (task,)),)), gates, gates, (HEADS,) * LAYERS))
    common = common_heads(gated, least=3, draws=500, seed=1)
    assert common.p_fewer < 0.05
    claim = _first(common)
    assert claim.shown == "open"
    assert "no test: so many heads are kept" in claim.tests[0].uncertainty


@given(st.lists(st.integers(0, 3), min_size=2, max_size=3), st.integers(1, 3))
def test_the_most_in_common_is_that_of_the_best_choice_of_heads(kept: list[int], least: int) -> None:
    heads = 3
    choices = [list(combinations(range(heads), own)) for own in kept]
    best = max(
        sum(sum(head in own for own in chosen) >= least for head in range(heads)) for chosen in product(*choices)
    )
    assert most_in_common(kept, heads, least) == best


def test_too_few_tasks_are_refused() -> None:
    with pytest.raises(StageError, match=r"E461: 1 task has gated models"):
        common_heads([planted_gates("pos", STEM, 1)], least=2, draws=50, seed=1)
