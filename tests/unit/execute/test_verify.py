"""What `verify --rerun` says of a stage that came out differently."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.execute.verify import _compare, _evaluated
from mtlspec.io.manifest import read_manifest, write_manifest
from mtlspec.io.project import RunPlaces
from mtlspec.io.write import write_json, write_text


def _ran(folder: Path, text: str, cpu: str, scores: dict[str, float]) -> RunPlaces:
    places = RunPlaces(folder)
    write_text(places.artifact("x") / "file", text)
    write_manifest(places.artifact("x"))
    record = {
        "stage": "x", "kind": "train", "facts": {}, "inputs": {}, "scores": scores,
        "environment": {"cpu": cpu, "python": "3.11"}, "artifact": read_manifest(places.artifact("x")),
    }  # fmt: skip
    write_json(places.stage_record("x"), record)
    return places


@pytest.mark.parametrize(
    ("text", "cpu", "scores", "verdict", "detail"),
    [
        ("a", "this", {"dev": 90.0}, "identical", "1 file"),
        ("a", "other", {"dev": 90.0}, "identical", "1 file"),
        ("a", "this", {"dev": 91.0}, "different", "same bits, but other scores or facts than recorded"),
        ("b", "this", {"dev": 90.0}, "different", "same platform, other bits: file"),
        ("b", "other", {"dev": 90.5}, "within tolerance", "other platform (cpu); scores within 0.50; other bits: file"),
        ("b", "other", {"dev": 80.0}, "different", "other platform (cpu); a score differs by 10.00; other bits: file"),
        ("b", "other", {"test": 90.0}, "different", "other platform (cpu); a score differs by inf; other bits: file"),
    ],
)
def test_the_verdict(text: str, cpu: str, scores: dict[str, float], verdict: str, detail: str, tmp_path: Path) -> None:
    recorded = _ran(tmp_path / "recorded", "a", "this", {"dev": 90.0})
    found = _compare(recorded, _ran(tmp_path / "again", text, cpu, scores), "x")
    assert (found.verdict, found.detail) == (verdict, detail)


def test_other_bits_without_scores_are_not_called_equal(tmp_path: Path) -> None:
    recorded = _ran(tmp_path / "recorded", "a", "this", {})
    found = _compare(recorded, _ran(tmp_path / "again", "b", "other", {}), "x")
    assert found.verdict == "unproven" and found.holds
    assert found.detail == "other platform (cpu); no scores to compare; other bits: file"


def test_scores_of_further_splits_and_of_an_unlabelled_test_are_summed_up_as_recorded(tmp_path: Path) -> None:
    about = {"main": "f1", "layer": "x", "columns": [], "labels": {}}
    first = {**about, "dev": {"f1": 10.0}, "test": {"f1": 20.0, "recall": 1.0}, "far": {"f1": 30.0}}
    write_json(tmp_path / "scores.json", {"a": first, "b": {**about, "dev": {"f1": 30.0}}})
    assert _evaluated(tmp_path) == {
        "dev/a/f1": 10.0, "dev/b/f1": 30.0, "dev/mean": 20.0,
        "test/a/f1": 20.0, "test/a/recall": 1.0, "far/a/f1": 30.0,
    }  # fmt: skip
