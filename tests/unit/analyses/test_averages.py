"""Tables of averages over tasks, from scores made by hand: ablations, frozen layers, numbers of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.analyses import ablation_table, freezing_table, task_count_curve
from mtlspec.errors import StageError
from mtlspec.io.digest import digest_tree
from tests.unit.analyses.averaged import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study(tmp_path)
    made.add("stl", {"pos": [90, 92]})
    made.add("stl", {"ner": [80, 82]})
    made.add("mtl", {"pos": [88, 90], "ner": [70, 72]})
    made.add("ca", {"pos": [91, 93], "ner": [78, 80]}, updates={"pos": 25, "ner": 300})
    return made


def test_an_ablation_by_hand(study: Study) -> None:
    options = ablation_table.Options(type="ablation_table")
    findings, facts = study.run(options)
    assert facts == {"rows": 2, "tasks": 2}
    single, mtl, ca = findings.tables[0].rows
    assert [row[0].text for row in (single, mtl, ca)] == ["stl: each task alone", "mtl: pos + ner", "ca: pos + ner"]
    assert [row[1].value for row in (single, mtl, ca)] == [86.0, 80.0, 85.5]
    assert [row[1].spread for row in (single, mtl, ca)] == pytest.approx([2**0.5] * 3)
    # 4.303 * sqrt(2 / 2 + 2 / 2) on either side: two seeds a side. A p value each, Holm's correction over two.
    assert [row[2].value for row in (single, mtl, ca)] == [None, -6.0, -0.5]
    assert [row[3].text for row in (single, mtl, ca)] == ["", "−12.08 to +0.08", "−6.58 to +5.58"]
    assert (mtl[4].text, ca[4].value) == ("", 5.5)
    assert ca[5].text == "−0.58 to +11.58"
    assert mtl[2].data["p_holm"] == pytest.approx(2 * 0.0513, abs=1e-3)
    assert [row[6].value for row in (single, mtl, ca)] == pytest.approx([10 / 2**0.5, 18 / 2**0.5, 13 / 2**0.5])
    # Single models read 800 examples of each task; ca read 200 of pos, and no more of ner than there are.
    assert [row[7].text for row in (single, mtl, ca)] == ["", "100.0", "62.5"]
    assert [row[8].text for row in (single, mtl, ca)] == ["", "0 of 2", "1 of 2"]
    assert findings.summary == (
        "The best average has ca: pos + ner: 85.50, +5.50 (may be luck) against mtl: pos + ner.",
        "Single-task models have 86.00 on average, mtl: pos + ner has −6.00 (may be luck) against them, "
        "ca: pos + ner −0.50 (may be luck).",
        "ca: pos + ner is not below them on 1 of 2 tasks.",
    )
    study.run(options, "again")
    assert digest_tree(study.root / "out") == digest_tree(study.root / "again")


def test_a_loss_that_is_more_than_luck_is_told(tmp_path: Path) -> None:
    """Six seeds that scatter by a point: of two joint models, one loses ten points against single-task models."""
    study = Study(tmp_path)
    scatter = (0, 1, 0, 1, 0, 1)
    for task in ("pos", "ner"):
        study.add("stl", {task: [80 + more for more in scatter]})
    study.add("mtl", {task: [70 + more for more in scatter] for task in ("pos", "ner")})
    study.add("ca", {task: [80 + more for more in reversed(scatter)] for task in ("pos", "ner")})
    findings, _ = study.run(ablation_table.Options(type="ablation_table"))
    _, mtl, ca = findings.tables[0].rows
    assert [(row[2].text, row[2].mark, row[4].mark) for row in (mtl, ca)] == [("−10.00", "*", ""), ("0.00", "", "*")]
    assert (
        "mtl: pos + ner has −10.00 (more than luck) against them, ca: pos + ner 0.00 (may be luck)."
        in (findings.summary[1])
    )


def test_further_scores_count_in_the_spread_and_must_be_known(study: Study) -> None:
    findings, _ = study.run(ablation_table.Options(type="ablation_table", further_scores={"pos": ("accuracy",)}))
    # 90, 80 and 90 again
    assert findings.tables[0].rows[0][6].value == pytest.approx(10 / 3**0.5)
    with pytest.raises(StageError, match="task 'pos' has no score 'f1'") as caught:
        study.run(ablation_table.Options(type="ablation_table", further_scores={"pos": ("f1",)}), "again")
    assert (caught.value.code, caught.value.hint) == ("E563", "known: accuracy")


def test_models_without_single_ones_are_compared_with_each_other(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add("mtl", {"pos": [88], "ner": [70]})
    study.add("ca", {"pos": [91], "ner": [78]})
    findings, _ = study.run(ablation_table.Options(type="ablation_table"))
    assert [row[2].text for row in findings.tables[0].rows] == ["", ""]
    assert [row[7].text for row in findings.tables[0].rows] == ["", ""]
    assert findings.summary == (
        "The best average has ca: pos + ner: 84.50, +5.50 (could not be tested) against mtl: pos + ner.",
    )
    alone = Study(tmp_path / "alone")
    alone.add("stl", {"pos": [90]})
    with pytest.raises(StageError, match="no model learns several tasks"):
        alone.run(ablation_table.Options(type="ablation_table"))


def test_the_task_that_decides_the_average_is_found(tmp_path: Path) -> None:
    """As in the paper's Table 10: most of the gain is one task's, and without it another row is the best."""
    study = Study(tmp_path)
    for share, scores in ((0.0, (90, 80, 60)), (0.25, (91, 80, 64)), (0.5, (89, 79, 75))):
        tasks = dict(zip(("pos", "ner", "rte"), scores, strict=True))
        study.add("ca", {task: [score] for task, score in tasks.items()}, [["train.freeze", share]])
    findings, facts = study.run(freezing_table.Options(type="freezing_table"))
    assert facts == {"rows": 3, "dominating": "rte"}
    rows = findings.tables[0].rows
    assert [round(float(row[4].value or 0), 2) for row in rows] == [76.67, 78.33, 81.0]
    assert [row[5].value for row in rows] == [85.0, 85.5, 84.0]
    assert findings.numbers["gains"] == pytest.approx({"pos": -1 / 3, "ner": -1 / 3, "rte": 5.0})
    assert findings.summary == (
        "The best average has ca: pos + ner + rte [freeze 0.5] (81.00), the lowest ca: pos + ner + rte [freeze 0.0] "
        "(76.67): 4.33 points, to which rte adds 5.00.",
        "Without rte it is ca: pos + ner + rte [freeze 0.25]: 85.50 against 84.00 of ca: pos + ner + rte [freeze 0.5].",
    )


def test_a_row_that_is_best_with_and_without_the_deciding_task_is_told_once(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add("mtl", {"pos": [80], "rte": [50]})
    study.add("ca", {"pos": [82], "rte": [60]})
    findings, _ = study.run(freezing_table.Options(type="freezing_table"))
    assert findings.summary[1] == "Without rte it is still ca: pos + rte: 82.00 against 80.00."


def test_single_models_that_read_nothing_have_no_share_of_data(tmp_path: Path) -> None:
    study = Study(tmp_path)
    for task in ("pos", "ner"):
        study.add("stl", {task: [20]}, updates={task: 0})
    study.add("ca", {"pos": [80], "ner": [70]})
    findings, _ = study.run(ablation_table.Options(type="ablation_table"))
    (row,) = (row for row in findings.tables[0].rows if row[0].text.startswith("ca"))
    assert row[-2].text == "–" and row[-1].text == "2 of 2"


def test_more_tasks_are_a_curve_of_the_tasks_in_common(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add("stl", {"pos": [99]})
    for group, lost in (("mtl", 2), ("ca", -1)):
        study.add(group, {"pos": [90], "ner": [80]})
        study.add(group, {"pos": [90 - lost], "ner": [80 - lost], "dep": [70]})
    findings, facts = study.run(task_count_curve.Options(type="task_count_curve"))
    assert facts == {"points": 4, "common": 2}
    assert findings.summary == (
        "mtl: from 2 to 3 tasks, the average changes by −2.00 points.",
        "ca: from 2 to 3 tasks, the average changes by +1.00 points.",
    )
    assert [(row[1].value, row[2].value) for row in findings.tables[0].rows] == [(2, 85), (3, 83), (2, 85), (3, 86)]
    assert (study.root / "out/figures/task_count.svg").stat().st_size > 0


def test_models_without_the_tasks_of_the_smallest_are_passed_over(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add("a", {"pos": [90], "ner": [80]})
    study.add("b", {"dep": [90], "con": [80]})
    findings, facts = study.run(task_count_curve.Options(type="task_count_curve"))
    assert facts == {"points": 1, "common": 2}
    assert findings.summary == ("No way of training has models of different numbers of tasks with pos, ner.",)
    alone = Study(tmp_path / "alone")
    alone.add("stl", {"pos": [90]})
    with pytest.raises(StageError) as caught:
        alone.run(task_count_curve.Options(type="task_count_curve"))
    assert caught.value.code == "E566"
