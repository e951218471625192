"""What every analysis promises, whichever files lie in its folder."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec import kinds
from mtlspec.io.digest import digest_tree
from mtlspec.plan.rows import restored_rows
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.spec.families import ANALYSES, AnalysisOptions
from tests.finished_run import FinishedRun, make_run

NAMES = kinds.names(ANALYSES)
READS_SCORES_ONLY = [name for name in NAMES if set(kinds.options_class(ANALYSES, name).needs) == {"evaluate"}]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return make_run(tmp_path_factory.mktemp("project"), tasks=("pos", "ner", "chunk"))


@pytest.mark.parametrize("name", NAMES)
def test_an_analysis_has_all_its_methods(name: str) -> None:
    assert not inspect.isabstract(kinds.options_class(ANALYSES, name))


def _run(name: str, finished: FinishedRun, out: Path) -> dict[str, Any]:
    stage = finished.plan.stage("analyse-scores")
    context = finished.context(stage, out)
    analysis = kinds.parse(ANALYSES, AnalysisOptions, {"type": name})
    return dict(analysis.run(AnalysisJob(restored_rows(stage.params["models"]), context.inputs, out)))


@pytest.mark.parametrize("name", READS_SCORES_ONLY)
def test_findings_are_complete_and_the_same_every_time(name: str, finished: FinishedRun, tmp_path: Path) -> None:
    facts = _run(name, finished, tmp_path / "a")
    assert facts == json.loads(json.dumps(facts))
    findings = Findings.read(tmp_path / "a")
    assert findings.type == name
    assert findings.summary
    assert findings.tables
    for table in findings.tables:
        assert table.title
        assert table.caption
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert all((tmp_path / "a" / "tables" / f"{table.name}.{kind}").is_file() for kind in ("json", "csv", "tex"))
    for figure in findings.figures:
        assert figure.title
        assert figure.caption
        assert all((tmp_path / "a" / "figures" / f"{figure.name}.{kind}").is_file() for kind in ("svg", "png"))
    assert _run(name, finished, tmp_path / "b") == facts
    assert digest_tree(tmp_path / "a") == digest_tree(tmp_path / "b")
