"""Figures of functional specialisation: what is printed, what follows from it, and verdicts that follow from tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.io.digest import canonical_json
from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.plan.build import build_plan
from mtlspec.report.specialisation import Specialisation, specialisation_findings
from mtlspec.report.specialisation_section import specialisation_section
from mtlspec.results.evaluations import Evaluation
from mtlspec.results.findings import Findings
from mtlspec.results.inference import Difference
from mtlspec.results.tables import Table
from mtlspec.results.variants import variants
from mtlspec.spec.load import load_spec
from mtlspec.spec.packs import Pack, pack_names
from mtlspec.spec.published import SpecialisationPack, load_published, restored_published
from tests.model_rows import model_row
from tests.unit.analyses.test_dissociation import BASE, FIGURE_2, FROZEN, TABLE_3, TABLE_9, TABLE_10, _numbers
from tests.unit.spec.small_project import SPEC, make_project

ENCODERS = ("gpt", "gpt2", "tinybert", "bert", "bert_large", "roberta", "deberta")
TASKS = ("mnli", "qqp", "qnli", "ag", "sst2")
GLUE = ("cola", "mnli_m", "mnli_mm", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb")


def _pack(name: str = "bert") -> SpecialisationPack:
    found = load_published(f"functional_specialization/{name}")
    assert isinstance(found, SpecialisationPack)
    return found


def _array(pack: SpecialisationPack, table: str, rows: int | None = None) -> np.ndarray:
    found = pack.table(table)
    assert found is not None
    lines = [found.numbers(name) for name in found.names[:rows]]
    return np.array([[np.nan if cell is None else cell for cell in line] for line in lines])


def test_every_encoder_has_a_pack_that_comes_back_from_parameters() -> None:
    assert {name for name in pack_names() if name.startswith("functional")} == {
        f"functional_specialization/{name}" for name in ENCODERS
    }
    for name in ENCODERS:
        pack = _pack(name)
        assert restored_published(json.loads(canonical_json(pack.stored()))) == pack
        for table in pack.tables:
            assert all(len(row) == len(table.columns) for row in table.rows), f"{name}, {table.title}"
    assert isinstance(load_published("stem_cell/bert"), Pack)


def test_pairs_are_those_of_table_9_and_figure_2() -> None:
    pairs, averages = _numbers(TABLE_9).reshape(8, 10, 2), _numbers(FIGURE_2)
    rows = [number for number in range(8) if number != FROZEN]
    for name, number in zip(ENCODERS, rows, strict=True):
        found = _array(_pack(name), "pairs")
        np.testing.assert_array_equal(found[:10, :2], pairs[number])
        np.testing.assert_array_equal(found[:, 2], averages[number])
    frozen = _array(_pack(), "pairs_frozen")
    np.testing.assert_array_equal(frozen[:10, :2], pairs[FROZEN])


def test_tables_of_multi_task_learning() -> None:
    masked = _array(_pack(), "masked")
    np.testing.assert_array_equal(masked[:5], TABLE_3)
    np.testing.assert_array_equal(masked[6], BASE)
    within = np.nan_to_num(_array(_pack(), "within"))
    np.testing.assert_array_equal(within, TABLE_10)
    overlaps = _array(_pack(), "overlaps")
    np.testing.assert_array_equal(overlaps, overlaps.T)


@pytest.mark.parametrize("name", [name for name in ENCODERS if not name.startswith("gpt")])
def test_means_over_glue_follow_from_their_rows(name: str) -> None:
    """MNLI counts twice. One mean does not follow: that of adapters, which the paper took from another."""
    for table in ("glue_test", "glue_test_proportional", "glue_dev"):
        found, names = _array(_pack(name), table), _pack(name).table(table)
        assert names is not None and names.columns[1:-1] == GLUE
        wrong = np.abs(found[:, :9].mean(1) - found[:, 9]) > 0.051
        assert [row for row, bad in zip(names.names, wrong, strict=True) if bad] == (
            ["adapters_256"] if (name, table) == ("bert_large", "glue_test") else []
        )


def test_printed_tables_agree_with_each_other() -> None:
    few, ablation = _array(_pack(), "transfer"), _array(_pack(), "transfer_ablation")
    np.testing.assert_array_equal(few[2:][:, [0, 4]], ablation[[0, 2]])  # 4-shot, plain and with IAT, in Tables 6 and 8
    dev, means = _array(_pack(), "glue_dev"), _array(_pack(), "ablation")
    np.testing.assert_allclose(dev[2:, 9], means[[0, 3], 0], atol=0.051)  # Table 7 is Table 13 with annealed sampling
    assert int((dev[3, :9] > dev[2, :9]).sum()) == 8 and means[3, 1] == 8  # tasks improved; STS-B is the same
    gains = [_array(_pack(name), "glue_test") for name in ENCODERS if not name.startswith("gpt")]
    assert np.mean([rows[-1, 9] - rows[-2, 9] for rows in gains]) == pytest.approx(0.76)  # as Section 6.3 says


def test_the_report_gets_the_figures(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (tmp_path / "specs/study.yaml").write_text(SPEC + "compare_to: functional_specialization/bert\n")
    report = build_plan(load_spec(tmp_path / "specs/study.yaml", project)).stage("report")
    assert restored_published(report.params["published"]) == _pack()


# Verdicts

MODELS = {
    "stl": ("hard", None),
    "pair": ("hard", None),
    "pair_frozen": ("hard", 1.0),
    "mtl": ("hard", None),
    "iat": ("iat", None),
}
SPECIFIED = {
    "models": {
        name: {"sharing": {"type": kind}, "train": {"freeze": freeze}} for name, (kind, freeze) in MODELS.items()
    }
}


def _difference(value: float, interval: tuple[float, float] | None = None, p: float | None = None) -> dict[str, Any]:
    return Difference(value, "runs", (3, 3), interval=interval, p=p).stored()


def _found(
    intervals: list[tuple[float, float]], frozen: list[tuple[float, float]], iat: tuple[float, float]
) -> Findings:
    """`iap`: intervals of both tasks of a pair; (difference, p) of frozen encoders and of IAT."""
    by_task = [_difference(sum(bounds) / 2, bounds) for bounds in intervals]
    average = _difference(sum(map(sum, intervals)) / 4)
    joint = {
        "model": "mtl: " + " + ".join(TASKS), "group": "mtl", "tasks": list(TASKS), "by_task": [_difference(1.0)] * 5,
        "average": _difference(1.0), "base": [BASE.tolist()] * 2, "masked": [TABLE_3.tolist()] * 2,
        "random": [TABLE_3.tolist()] * 2,
    }  # fmt: skip
    both = {"tasks": ["mnli", "qqp"], "by_task": by_task, "average": average}
    pairs = [{"model": f"{group}: mnli + qqp", "group": group, **both} for group in ("pair", "pair_frozen")]
    compared = [
        {"model": "pair_frozen: mnli + qqp", "reference": "pair: mnli + qqp", "found": _difference(d), "p_holm": p}
        for d, p in frozen
    ]
    compared.append({"model": "iat: all", "reference": "mtl: all", "found": _difference(iat[0]), "p_holm": iat[1]})
    return Findings("iap", "x", (), (), (), {"models": [*pairs, joint], "comparisons": compared})


def _relations(*found: tuple[float, float]) -> Findings:
    return Findings("task_similarity", "x", (), (), (), {"relations": [{"r": r, "p_holm": p} for r, p in found]})


def _evaluation(task: str, share: float) -> Evaluation:
    metric = TagAccuracy()
    correct = np.arange(2000) < share * 20
    rows = np.stack([correct, np.ones_like(correct)], axis=1).astype(np.int64)
    scores = {task: {"main": metric.main, "test": {metric.main: float(metric.score_rows(rows)[metric.main])}}}
    scores[task] |= {"dev_mismatched": {metric.main: share / 2}} if task == "mnli" else {}
    return Evaluation(scores, {task: metric}, {task: rows})


def _side(*found: Findings, gain: float = 10.0, tasks: Sequence[str] = ("cola", "rte")) -> Specialisation:
    """Two tasks, learnt together, with IAT better by some points in all three seeds."""
    rows, evaluations = [], {}
    for group, shift in (("mtl", 0.0), ("iat", gain)):
        for seed in (1, 2, 3):
            row = model_row(group, list(tasks), seed)
            made = [_evaluation(task, 60 + shift + seed / 5) for task in row.tasks]
            parts = zip(*(vars(one).values() for one in made), strict=True)
            evaluations[row.evaluate] = Evaluation(*({k: v for part in own for k, v in part.items()} for own in parts))
            rows.append(row)
    return Specialisation.of(_pack(), SPECIFIED, variants(rows), evaluations, list(found))


def test_what_is_published() -> None:
    found = [finding.published for finding in specialisation_findings(_side())]
    assert found == [
        "20 of 20 dissociations above zero",
        "below in 10 of 10 pairs",
        "raised in all five encoders (Figure 8)",
        "above in 7 of 9 scores, +0.72 points on average",
        "negative by four measures (Figures 3 and 5 to 7)",
    ]


@pytest.mark.parametrize(
    ("intervals", "frozen", "iat", "relations", "gain", "verdict"),
    [
        ([(1, 9), (2, 8)], [(-5, 0.01)], (3, 0.01), [(-0.9, 0.01)], 10, "holds"),
        ([(1, 9), (-8, -2)], [(5, 0.01)], (-3, 0.01), [(-0.9, 0.01), (0.8, 0.02)], -10, "does not hold"),
        ([(1, 9), (-2, 8)], [(-5, 0.2)], (3, 0.2), [(-0.9, 0.01), (-0.8, 0.2)], 0.1, "undecided"),
    ],
)
def test_findings_follow_the_tests(
    intervals: Any, frozen: Any, iat: Any, relations: Any, gain: float, verdict: str
) -> None:
    side = _side(_found(intervals, frozen, iat), _relations(*relations), gain=gain)
    assert [finding.verdict for finding in specialisation_findings(side)] == [verdict] * 5


def test_a_run_without_these_analyses_answers_nothing() -> None:
    side = Specialisation.of(_pack("gpt"), SPECIFIED, (), {}, [])
    assert [finding.verdict for finding in specialisation_findings(side)] == ["not in this run"] * 3
    assert specialisation_section(side).sentences == (
        "None of the published findings can be compared: this run has no models of the same kind.",
    )


def test_both_columns_of_mnli_are_splits_of_one_task() -> None:
    tables = {table.name: table for table in specialisation_section(_side(tasks=("cola", "mnli"))).tables}
    row = next(row for row in tables["glue_beside"].rows if row[0].text == "iat")
    found = dict(zip(tables["glue_beside"].columns, row, strict=True))
    assert found["mnli_m, here"].text.startswith("70.40 ±") and found["mnli_mm, here"].text.startswith("35.20 ±")


def test_figures_stand_beside_ours(tmp_path: Path) -> None:
    side = _side(_found([(1, 9), (2, 8)], [(-5, 0.01)], (3, 0.01)))
    tables: dict[str, Table] = {table.name: table for table in specialisation_section(side).tables}
    assert [cell.text for cell in tables["pairs_beside"].rows[0]] == [
        "mnli + qqp", "2.78", "2.6", "2.69", "5.00", "5.00", "5.00"
    ]  # fmt: skip
    assert [cell.text for cell in tables["pairs_beside"].rows[1][4:]] == ["–"] * 3
    assert tables["pairs_frozen_beside"].rows[0][1].text == "−0.96"
    masked = {row[0].text: row for row in tables["masked_beside"].rows}
    assert masked["ag"][7].text == "80.01" and masked["ag"][8].text == "80.01 ± 0.00"
    assert "the wrong way round" in tables["masked_beside"].caption
    glue = {row[0].text: row for row in tables["glue_beside"].rows}
    assert glue["iat"][1].text == "51.6" and glue["iat"][2].text.startswith("70.40 ±") and glue["stl"][2].text == "–"
    assert glue["iat"][3].text == "83.9" and glue["iat"][4].text == "–"
    assert {"paper_within", "paper_overlaps", "paper_transfer", "paper_ablation", "paper_glue_dev"} <= tables.keys()
    assert tables["paper_transfer"].rows[0][1].text == "71.83 ± 6.5"
    for table in tables.values():
        table.write(tmp_path)
        assert all(len(row) == len(table.columns) for row in table.rows)
