"""Colours of probe tables: how often they err where nothing differs, and that they see what does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mtlspec.analyses._probes.best import best_heads
from mtlspec.analyses._probes.changes import Changes, changes_of
from mtlspec.analyses._probes.hits import Accuracies
from mtlspec.analyses._probes.results import Compared, TaskResults
from mtlspec.analyses._probes.tables import labels_table
from mtlspec.analyses.attended_value_probe import Options
from mtlspec.results.inference import ONE_START
from mtlspec.results.variants import Variant
from tests.model_rows import model_row

LABELS, LAYERS, HEADS, ITEMS = 8, 2, 4, 60
MODELS = ("pair", "mtl", "drawn")


def _column(rng: np.random.Generator, group: str, level: np.ndarray, seeds: int, luck: float) -> Compared:
    """Runs whose heads know each label as `level` [labels, layers, heads] says, more or less by each run's luck."""
    variant = Variant(group, ("pos",), (), tuple(model_row(group, ("pos",), seed) for seed in range(1, seeds + 1)))
    runs = {}
    for seed in variant.seeds:
        own = np.clip(level + rng.normal(0, luck) + rng.normal(0, luck, level.shape), 0.01, 0.99)
        values = {(split, "gold"): 100 * rng.binomial(ITEMS, own) / ITEMS for split in ("dev", "test")}
        counts = dict.fromkeys(("dev", "test"), np.full(LABELS, ITEMS))
        runs[seed] = best_heads(Accuracies(tuple(f"L{i}" for i in range(LABELS)), counts, values), "dev")
    return Compared(group, variant, runs)


def _results(seed: int, *, seeds: int = 3, luck: float = 0.03, shift: float = 0.0) -> TaskResults:
    """Single-task models and three others which know the same; with `shift`, mtl knows the first label better."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(0.2, 0.6, (LABELS, LAYERS, HEADS))
    better = level + shift * (np.arange(LABELS) == 0)[:, None, None]
    base = _column(rng, "stl", level, seeds, luck)
    others = tuple(_column(rng, name, better if name == "mtl" else level, seeds, luck) for name in MODELS)
    pretrained = base.seeds[1]
    layers = np.zeros((LABELS, LAYERS))
    return TaskResults("pos", tuple(range(LABELS)), pretrained, layers, base, others, (), {})


def _coloured(tested: Changes, results: TaskResults, *, means: bool) -> int:
    numbers = (None,) if means else results.labels
    return sum(tested.sure(other, number) for other in results.others for number in numbers)


@pytest.mark.parametrize(("seeds", "luck"), [(3, 0.03), (8, 0.0)])
def test_tables_without_any_difference_have_a_colour_in_at_most_six_percent(
    monkeypatch: pytest.MonkeyPatch, seeds: int, luck: float
) -> None:
    """Of 100 tables with 24 cells and 3 means; uncorrected tests would colour most of these tables."""
    for name in ("detectable_shift", "t_quantile"):  # of intervals and power: slow, and no part of p values
        monkeypatch.setattr(f"mtlspec.results.inference.{name}", lambda *_: 2.0)
    tables = 100
    labels = means = alone = 0
    for seed in range(tables):
        results = _results(seed, seeds=seeds, luck=luck)
        tested = changes_of(results)
        labels += _coloured(tested, results, means=False) > 0
        means += _coloured(tested, results, means=True) > 0
        alone += any(
            found.p is not None and found.p < 0.05 for (_, number), found in tested.found.items() if number is not None
        )
    assert labels <= 0.06 * tables
    assert means <= 0.06 * tables + 2 * (0.05 * 0.95 * tables) ** 0.5  # few tests: within two standard errors
    assert alone > 0.4 * tables


def test_a_real_change_has_its_colour_in_the_table_and_no_other_has() -> None:
    results = _results(1, seeds=5, luck=0.005, shift=0.35)
    tested = changes_of(results)
    table = labels_table(results, Options(type="attended_value_probe", pos="pos"), tested)
    tones = {
        (row[0].text, table.columns[i]): cell.tone for row in table.rows for i, cell in enumerate(row) if cell.tone
    }
    assert tones == {("L0", "mtl"): "up"}
    assert "Holm's correction over 3 comparisons: means of labels, every model with stl" in table.caption
    assert "Holm's correction over 24 comparisons: single labels, every model with stl" in table.caption
    assert "with the test items as given" in table.caption


def test_one_seed_gives_no_colour_and_says_so() -> None:
    results = _results(1, seeds=1, shift=0.35)
    tested = changes_of(results)
    assert not any(_coloured(tested, results, means=means) for means in (True, False))
    assert tested.words == "without colours, because nothing could be tested"
    assert "were not tested (one seed" in tested.mean_words(results.others[1])


def test_runs_that_share_a_start_are_not_tested_against_others() -> None:
    results = _results(1, seeds=3)
    base, other = results.baseline, results.others[0]
    assert base is not None
    rows = tuple(replace(model_row("pair", ("pos",), seed), starts=("train-stl-pos-s1",)) for seed in (1, 2, 3))
    shared = Compared(other.title, Variant("pair", ("pos",), (), rows), other.seeds)
    assert shared.variant.shared_starts != base.variant.shared_starts
    tested = changes_of(replace(results, others=(shared,)))
    assert tested.found[shared.title, None].why == ONE_START
