"""Few-shot transfer: the table, the pairs of seeds and the bootstrap behind its marks."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from bench._simulated import World
from bench.calibration import bootstrap_of_pairs, default_of_pairs, simulated
from mtlspec.analyses.few_shot import Options
from mtlspec.metrics.bootstrap import paired_bootstrap
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from tests.model_rows import model_row
from tests.unit.analyses.test_score_matrix import _evaluation, _inputs

SEEDS = (1, 2, 3, 4)
CORRECT = {  # group, examples -> right words of 10, of every seed
    ("mtl", 4): (5, 6, 4, 5),
    ("iat", 4): (7, 9, 6, 8),
    ("mtl", 16): (8, 9, 8, 9),
    ("iat", 16): (9, 8, 9, 8),
}


@pytest.fixture
def job(tmp_path: Path) -> AnalysisJob:
    rows: list[ModelRow] = []
    for (group, size), scores in CORRECT.items():
        for seed, correct in zip(SEEDS, scores, strict=True):
            row = model_row(group, ["pos"], seed, [("train.examples", size)])
            rows.append(replace(row, starts=(f"train-{group}-all-s1",)))
            _evaluation(tmp_path / row.evaluate, [correct] * 3)
    return AnalysisJob(tuple(rows), _inputs(tmp_path, rows), tmp_path / "out")


def test_groups_by_sizes_with_marks_where_pairs_of_seeds_differ(job: AnalysisJob) -> None:
    facts = Options(type="few_shot", test="bootstrap", correction="none").run(job)
    assert facts == {"models": 4, "comparisons": 2, "significant": 1}
    found = Findings.read(job.out)
    scores, comparisons = found.tables
    assert scores.columns == ("model", "4", "16")
    ((heading, (mtl, iat)),) = scores.sections
    assert heading == "pos (accuracy)"
    assert [cell.text for cell in mtl] == ["mtl", "50.00 ± 8.16", "85.00 ± 5.77"]
    assert [cell.text for cell in iat] == ["iat", "75.00 ± 12.91", "85.00 ± 5.77"]
    assert [cell.mark for cell in iat] == ["", "*", ""]
    assert iat[1].tone == "up"
    assert [row[3].value for row in comparisons.rows] == [pytest.approx(25.0), pytest.approx(0.0)]
    assert found.summary == (
        "iat is above mtl in 1 and below in 0 of 2 comparisons (p < 0.05); +12.50 points on average.",
    )
    assert "share its luck" in scores.caption
    assert "With fewer than 30 pairs of seeds" in scores.caption
    assert [figure.name for figure in found.figures] == ["few_shot_pos"]


def test_another_baseline_and_holms_correction(job: AnalysisJob) -> None:
    Options(type="few_shot", test="bootstrap", baseline="iat").run(job)
    found = Findings.read(job.out)
    assert "below in 1" in found.summary[0]
    tests = found.numbers["tests"]
    assert tests[0]["p_that_counts"] == pytest.approx(2 * tests[0]["found"]["p"])
    assert "Holm's correction over 2 comparisons: mtl with iat" in found.tables[0].caption


def test_models_without_a_partner_are_shown_and_not_compared(job: AnalysisJob) -> None:
    alone = replace(job, models=tuple(row for row in job.models if row.group == "mtl"))
    assert Options(type="few_shot").run(alone)["comparisons"] == 0
    found = Findings.read(job.out)
    assert len(found.tables) == 1
    assert found.summary == ("No model has one of mtl with the same task, size and seed beside it.",)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(-3, 6), min_size=2, max_size=4))
def test_the_bootstrap_is_near_the_exact_one(differences: list[int]) -> None:
    """Of so few pairs all resamples can be counted."""
    every = [float(np.mean(drawn)) for drawn in product(differences, repeat=len(differences))]
    exact = min(1.0, 2 * min(np.mean(np.array(every) <= 0), np.mean(np.array(every) >= 0)))
    found = paired_bootstrap(differences, 20_000, 1)
    assert found.p == pytest.approx(exact, abs=0.02)
    assert found.error == pytest.approx(np.std(every), abs=0.05)
    assert min(every) <= found.interval[0] <= found.interval[1] <= max(every)


def test_golden_bootstrap() -> None:
    """The same bits in every release of numpy."""
    found = paired_bootstrap([1.0, 2.0, -0.5, 3.0, 0.25], 1000, 7)
    assert found.p == 32 / 1001
    assert found.interval == pytest.approx((0.1, 2.25))


def test_by_default_seeds_and_test_examples_are_tested(job: AnalysisJob) -> None:
    """Equal sentences, on which pairs of seeds differ by 20, 30, 20 and 30 points: a t test of these."""
    Options(type="few_shot", correction="none").run(job)
    found = Findings.read(job.out)
    large, none = found.numbers["tests"]
    assert large["found"]["p"] == pytest.approx(ttest_1samp([20.0, 30.0, 20.0, 30.0], 0.0).pvalue)
    assert none["found"]["p"] == pytest.approx(1.0)
    assert "paired test over seeds and test examples" in found.tables[0].caption


def test_the_default_test_errs_rarely_where_the_bootstrap_errs_often() -> None:
    a, b = simulated(World(examples=60), "accuracy", (5, 5), times=300)
    assert default_of_pairs(a, b).mean() < 0.09
    assert bootstrap_of_pairs(a, b).mean() > 0.2
