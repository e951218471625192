"""The page to look at has wall-clock figures; the recorded one never does."""

from __future__ import annotations

import csv
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


def test_figures_of_this_machine_are_data_beside_the_copy(finished: FinishedRun, tmp_path: Path) -> None:
    run = finished.copy_to(tmp_path / "other")
    for seed, speed in ((1, 700.0), (2, 900.0)):
        write_json(run.places.timing(f"evaluate-stl-pos-s{seed}"), {"seconds": 2.0, "samples_per_second": speed})
    folder = write_viewing_copy(run.places).parent / "measured"
    with (folder / "measured_evaluation.csv").open(newline="") as file:
        (own,) = (row for row in csv.DictReader(file) if row["samples per second"] != "–")
    assert "pos" in own["configuration"]
    assert float(own["samples per second"]) == 800.0
    assert r"\begin{tabular}" in (folder / "measured_evaluation.tex").read_text()
    shutil.rmtree(run.places.base / "timings")
    write_viewing_copy(run.places)
    assert not list(folder.iterdir())  # what was measured and is no more is not left lying about


def test_no_table_spells_out_numpy_s_types(finished: FinishedRun) -> None:
    write_viewing_copy(finished.places)
    tables = sorted(finished.places.base.rglob("*.csv"))
    assert len(tables) > 10
    assert not [path for path in tables if "np." in path.read_text()]
