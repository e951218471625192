"""Findings: what an analysis leaves behind comes back whole, and programs read its numbers, not its tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mtlspec.plan.rows import restored_rows
from mtlspec.report.published import bring_together
from mtlspec.results.comparisons import ToldTests
from mtlspec.results.evaluations import read_evaluations
from mtlspec.results.findings import Figure, Findings
from mtlspec.results.tables import Cell, Table
from mtlspec.results.variants import variants
from mtlspec.spec.packs import load_pack
from tests.finished_run import FinishedRun, make_run


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return make_run(tmp_path_factory.mktemp("project"), tasks=("pos", "dep", "con"))


def test_findings_come_back_as_they_were_written(tmp_path: Path) -> None:
    table = Table("t", "T", "", ("model", "score"), (("", ((Cell("a", "a"), Cell("1.0", 1.0, data={"n": 2})),)),))
    made = Findings("kind", "Title", ("One.",), (table,), (Figure("f", "F", "C"),), {"p": 0.25})
    made.write(tmp_path)
    assert Findings.read(tmp_path) == made
    replace(made, numbers={}).write(tmp_path)
    assert "numbers" not in json.loads((tmp_path / "analysis.json").read_bytes())
    assert Findings.read(tmp_path).numbers == {}


def test_a_score_matrix_leaves_its_tests_as_numbers(finished: FinishedRun) -> None:
    findings = Findings.read(finished.places.artifact("analyse-scores"))
    matrix = ToldTests.restored(findings.numbers)
    assert ToldTests.restored(json.loads(json.dumps(matrix.stored()))) == matrix
    assert (matrix.baseline, matrix.alpha) == ("stl", 0.05)
    shown = next(table for table in findings.tables if table.name == "comparisons")
    place = shown.columns.index("p (Holm)")
    assert [(row[0].value, row[1].value, row[place].value) for row in shown.rows] == [
        (test.model, test.task, test.p_holm) for test in matrix.tests
    ]
    assert all(test.found.seeds == (2, 2) and test.baseline == f"stl: {test.task}" for test in matrix.tests)


def test_p_values_of_the_report_do_not_come_from_cells(finished: FinishedRun) -> None:
    report = finished.plan.stage("report")
    inputs = {role: finished.places.artifact(name) for role, name in report.inputs.items()}
    models = variants(restored_rows(report.params["models"]))
    evaluations = read_evaluations(models, inputs)
    findings = Findings.read(inputs["analyse-scores"])
    pack = load_pack("stem_cell/bert")
    sides = [
        bring_together(pack, report.params["spec"], models, evaluations, [found], inputs)
        for found in (findings, replace(findings, tables=()))
    ]
    assert sides[0].ours == sides[1].ours
    matrix = ToldTests.restored(findings.numbers)
    expected = next(test.p_holm for test in matrix.tests if (test.model, test.task) == ("pair: pos + dep", "dep"))
    assert sides[0].ours["pos+dep", "dep"].p == expected
    assert expected is not None
