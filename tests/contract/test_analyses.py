"""What every analysis promises, whichever files lie in its folder."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mtlspec import kinds
from mtlspec.contract.analyses import check_findings
from mtlspec.plan.rows import restored_rows
from mtlspec.results.jobs import AnalysisJob
from mtlspec.spec.families import ANALYSES, AnalysisOptions
from tests.finished_run import FinishedRun, make_run

NAMES = kinds.names(ANALYSES)


def _reads_scores_only(name: str) -> bool:
    """And runs as it is: one that must be told more has tests of its own."""
    options = kinds.options_class(ANALYSES, name)
    needed = [field for field, about in options.model_fields.items() if about.is_required()]
    return set(options.needs) == {"evaluate"} and needed == ["type"]  # type: ignore[attr-defined]


READS_SCORES_ONLY = [name for name in NAMES if _reads_scores_only(name)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return make_run(tmp_path_factory.mktemp("project"), tasks=("pos", "ner", "chunk"))


@pytest.mark.parametrize("name", NAMES)
def test_an_analysis_has_all_its_methods(name: str) -> None:
    assert not inspect.isabstract(kinds.options_class(ANALYSES, name))


@pytest.mark.parametrize("name", READS_SCORES_ONLY)
def test_findings_are_complete_and_the_same_every_time(name: str, finished: FinishedRun, tmp_path: Path) -> None:
    stage = finished.plan.stage("analyse-scores")
    analysis = kinds.parse(ANALYSES, AnalysisOptions, {"type": name})

    def run(out: Path) -> Mapping[str, Any]:
        context = finished.context(stage, out)
        return analysis.run(AnalysisJob(restored_rows(stage.params["models"]), context.inputs, out))

    check_findings(name, run, tmp_path)
