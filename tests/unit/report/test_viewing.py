"""The page to look at has wall-clock figures; the recorded one never does."""

from __future__ import annotations

import shutil
from pathlib import Path

from mtlspec.io.digest import digest_tree
from mtlspec.io.write import write_json, write_text
from mtlspec.report.viewing import write_viewing_copy
from tests.finished_run import FinishedRun


def test_figures_of_this_machine_are_in_the_copy_and_not_in_the_artifact(finished: FinishedRun) -> None:
    artifact = finished.places.artifact("report")
    before = digest_tree(artifact)
    page = write_viewing_copy(finished.places)
    assert page == finished.places.base / "work" / "report.html"
    text = page.read_text()
    assert text.count('href="#measured"') == text.count('id="measured"') == 1
    assert "12,345 ± 0" in text  # tokens per second, mean over seeds
    assert "Measured on this machine" not in (artifact / "report.html").read_text()
    assert digest_tree(artifact) == before


def test_without_timings_the_copy_is_the_artifact_s_page(finished: FinishedRun, tmp_path: Path) -> None:
    run = finished.copy_to(tmp_path / "other")
    shutil.rmtree(run.places.base / "timings")
    assert write_viewing_copy(run.places).read_text() == (run.places.artifact("report") / "report.html").read_text()


def test_broken_timings_are_passed_over(finished: FinishedRun, tmp_path: Path) -> None:
    run = finished.copy_to(tmp_path / "other")
    write_text(run.places.timing("report"), "{")
    write_json(run.places.timing("evaluate-stl-pos-s1"), {"seconds": 2.0, "samples_per_second": 777.0, "note": "x"})
    text = write_viewing_copy(run.places).read_text()
    assert "samples per second" in text
    assert "777" in text
