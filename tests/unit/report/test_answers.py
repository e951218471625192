"""Plain words of what came out: what was asked, what was found, and how sure that is."""

from __future__ import annotations

from typing import Any

import pytest

from mtlspec.report.answers import Answer, answers, detectable_mean
from mtlspec.results.comparisons import ToldTest, ToldTests
from mtlspec.results.findings import Findings
from mtlspec.results.inference import Difference, Family, Unit

_ASKED = "Do other ways of training score differently from stl?"


def _matrix(*found: tuple[float, float | None], unit: Unit = "runs") -> Findings:
    family = Family("mtl with stl", len(found), 0.05)
    tests = tuple(
        ToldTest(f"mtl: {task}", task, f"stl: {task}", _difference(delta, p, unit), family, p)
        for task, (delta, p) in zip("abcdefgh", found, strict=False)
    )
    numbers = ToldTests("stl", 0.05, tests).stored()
    return Findings("score_matrix", "Scores", ("mtl against stl: more.",), (), (), numbers)


def _difference(delta: float, p: float | None, unit: Unit = "runs") -> Difference:
    if p is None:
        return Difference(delta, unit, (1, 1), why="one seed")
    if unit == "sentences":
        return Difference(delta, unit, (3, 3), p=p)
    half = 0.5 if p < 0.05 else 20.0
    interval = (delta - half, delta + half)
    return Difference(delta, unit, (3, 3), p=p, error=1.0, df=4.0, interval=interval, detectable=3.8)


def _only(findings: Findings) -> Answer:
    (answer,) = answers([findings])
    return answer


def test_a_matrix_names_what_is_no_luck_and_tells_its_power() -> None:
    answer = _only(_matrix((2.0, 0.01), (-3.0, 0.02), (9.0, 0.4)))
    assert answer.asked == _ASKED
    assert answer.found == (
        "2 of 3 differences are more than luck: b in mtl: b −3.00 points; a in mtl: a +2.00 points."
        " Of the other 1 nobody can tell."
    )
    assert answer.sure == (
        "With 3 seeds a difference must be at least 3.8 points to be found in four of five cases, and at least 5.1"
        " points to stand out among 3; smaller ones may be there, unseen."
    )
    assert answer.text == f"{answer.asked} {answer.found} {answer.sure}"


def test_comparisons_that_scatter_differently_are_not_told_one_threshold() -> None:
    """A difference of 9 points may be lost where a median of 1.5 is told: the range says why."""
    found = _matrix((-9.0, 0.3), (0.5, 0.2), (1.0, 0.3))
    for test, size in zip(found.numbers["tests"], (6.9, 0.43, 1.5), strict=True):
        test["found"] |= {"detectable": size, "error": size / 3.8}
    assert _only(found).sure == (
        "With 3 seeds a difference must be at least 1.5 points (median; from 0.4 to 6.9) to be found in four of five"
        " cases, and at least 2.0 points (median; from 0.6 to 9.3) to stand out among 3; smaller ones may be there,"
        " unseen."
    )


def test_many_differences_are_counted_beyond_the_largest() -> None:
    answer = _only(_matrix(*((float(size), 0.01) for size in (1, 5, 2, 4, 3))))
    assert answer.found.endswith(
        "b in mtl: b +5.00 points; d in mtl: d +4.00 points; e in mtl: e +3.00 points; and 2 more."
    )


def test_nothing_found_is_not_called_equal() -> None:
    answer = _only(_matrix((9.0, 0.4), (1.0, 0.5)))
    assert answer.found == "None of 2 differences is more than luck; that does not make them equal."
    assert "smaller ones may be there" in answer.sure


def test_one_seed_and_tests_of_sentences_say_what_they_cannot() -> None:
    assert _only(_matrix((2.0, None))).text == f"{_ASKED} That could not be tested: one seed."
    answer = _only(_matrix((2.0, 0.01), unit="sentences"))
    assert answer.found == "1 of 1 difference is sure for these trained models: a in mtl: a +2.00 points."
    assert answer.sure == "Another seed may turn this around."


def test_pruning_tells_price_and_doubt() -> None:
    losses = [_difference(-2.0, 0.01), _difference(-3.0, 0.4), _difference(0.2, 0.04)]
    group = {
        "group": "sp",
        "kept": 44.6,
        "against": "stl",
        "losses": [loss.stored() for loss in losses],
        "unequal": ", but sp had more",
    }
    answer = _only(Findings("pruning_table", "Pruning", ("x.",), (), (), {"groups": [group]}))
    assert answer.found == (
        "sp works with 45 % of its heads and scores 1.6 points less than stl, but sp had more (on average over models"
        " and tasks)."
    )
    assert answer.sure.startswith(
        "A loss of more than 1 point is ruled out in 1 of 3 comparisons and certain in 1; in 1 nobody can tell."
    )
    assert "at least 3.8 points" in answer.sure
    unpruned = Findings("pruning_table", "Pruning", ("No model has head gates.",), (), (), {"groups": []})
    assert _only(unpruned).found == "No model has head gates."


def test_probes_tell_controls_and_whether_joint_models_differ() -> None:
    change = {"found": _difference(-4.0, 0.01).stored(), "p_holm": 0.02, "unequal": ", but mtl had more"}
    task: dict[str, Any] = {
        "task": "dep", "labels": 9, "pretrained": 40.3, "controls": {"random encoder": 20.9, "position alone": 49.3},
        "single": {"model": "stl", "score": 51.0}, "changes": [change, {**change, "p_holm": 0.2}],
    }  # fmt: skip
    answer = _only(Findings("attention_probe", "Probes", ("x.",), (), (), {"tasks": [task]}))
    assert answer.found == "dep: 40 % before training (position alone 49 %), 51 % after that of stl (means of labels)."
    assert answer.sure.startswith(
        "Joint models differ from single-task ones by more than luck in 1 of 2 means, but mtl had more; with 3 seeds"
    )


def test_a_verdict_comes_first_with_its_claims_and_its_power() -> None:
    seeds = {"numbers": {"seeds": [4.0, 6.0, 5.0]}}
    claims = [
        {"statement": "Heads are common", "shown": "open", "tests": [{"numbers": {}}]},
        {"statement": "They rise", "shown": "shown", "tests": [seeds]},
        {"statement": "They lose", "shown": "contradicted", "tests": [{"numbers": {"seeds": [1.0]}}]},
    ]
    stem = Findings("stem_cells", "Stem cells", ("x.",), (), (), {"verdict": "not supported", "claims": claims})
    other = Findings("x", "Heads", ("First.", "Second."), (), ())
    first, second = answers([other, stem, Findings("y", "Nothing", (), (), ())])
    assert first.found == "No: heads are common: not shown; they rise: shown; they lose: the opposite is seen."
    assert f"With 3 seeds what these heads know must change by at least {detectable_mean([4, 6, 5]):.1f}" in first.sure
    assert second.text == "Heads: First."


def test_what_a_mean_over_seeds_could_show() -> None:
    assert detectable_mean([4.0, 6.0, 5.0]) == pytest.approx(3.0, abs=0.3)  # 5.2 standard errors with two df
    assert detectable_mean([4.0, 6.0] * 50) == pytest.approx(2.83 * 1.005 / 10, abs=0.01)
