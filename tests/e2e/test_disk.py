"""What a spec does not keep goes when nobody reads it any more; what was freed is made again, to the same bytes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.e2e.study import SPEC, Study

WEIGHTS = "model.safetensors"
OTHER = (
    SPEC.replace("name: small", "name: other")
    .replace("  mtl: {tasks: all, sharing: hard}\n", "")
    .replace("[stl, mtl]", "[stl]")
)


def _edit(study: Study, old: str, new: str) -> None:
    path = study.root / "specs/small.yaml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def _trained(study: Study) -> dict[str, bool]:
    """Model -> whether its weights are here."""
    folders = (study.run / "artifacts").glob("train-*")
    return {folder.name: (folder / WEIGHTS).is_file() for folder in folders}


def test_what_is_not_kept_goes_and_comes_back_when_it_is_read(study: Study) -> None:
    before = study.digests()
    _edit(study, "sharing: hard}\n  mtl", "sharing: hard, keep: scores}\n  mtl")
    first = study.mtlspec("run", "small", "--no-publish")
    assert [name for name in study.outcomes(first) if name not in ("plan", "results@small")] == ["report"]
    assert _trained(study) == {"train-mtl-all-s1": True, "train-stl-ner-s1": False, "train-stl-pos-s1": False}

    (row,) = json.loads(study.mtlspec("status", "--json").stdout)
    assert row["state"] == "current" and row["bytes"] > 100_000
    assert "everything holds" in study.mtlspec("verify", "small").stdout
    assert study.outcomes(study.mtlspec("run", "small", "--no-publish")) == {}
    refused = study.mtlspec("predict", "small/stl-pos-s1", check=False)
    assert refused.returncode == 5 and "E591: the weights of this model were freed" in refused.stderr

    _edit(study, "keep: scores", "keep: weights")
    why = {name: stage["reasons"] for name, stage in study.plan().items() if stage["state"] != "cached"}
    assert why["train-stl-pos-s1"] == ["its weights were freed, and the spec keeps more of it"]
    again = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert {name for name, outcome in again.items() if outcome == "done"} - {"plan", "results@small"} == {
        "train-stl-ner-s1",
        "train-stl-pos-s1",
    }
    assert study.digests() == before  # with the first report, which came back from the cache


def _freed(study: Study, *said: str) -> None:
    """After `gc`, nothing of `small` is here, and all of `other` is, in its folder and in the cache."""
    (study.root / "specs/other.yaml").write_text(OTHER)
    study.mtlspec("run", "other", "--no-publish")
    other = study.root / "registry/runs/other"
    held = sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())

    listed = study.mtlspec("gc", "small", *said)
    assert "can be made again" in listed.stdout and (study.run / "artifacts/report").is_dir()
    asked = study.mtlspec("gc", "small", *said, "--free", check=False)
    assert asked.returncode == 6 and "E691" in asked.stderr and (study.run / "artifacts/report").is_dir()
    study.mtlspec("gc", "small", *said, "--free", "--yes")

    assert held == sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())
    shutil.rmtree(other / "artifacts")
    outcomes = study.outcomes(study.mtlspec("run", "other", "--no-publish"))
    assert set(outcomes.values()) == {"restored"}  # whatever the two have in common


def test_what_was_freed_is_made_again_and_another_run_is_left_alone(study: Study) -> None:
    before = study.digests()
    _freed(study, "--all")
    assert not list((study.run / "artifacts").iterdir())
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert outcomes["train-mtl-all-s1"] == "done" and outcomes["train-stl-pos-s1"] == "restored"
    assert study.digests() == before


@pytest.mark.slow
def test_plain_dvc_makes_it_again_too(study: Study) -> None:
    before, lock = study.digests(), (study.run / "dvc.lock").read_bytes()
    study.mtlspec("gc", "small", "--all", "--free", "--yes")
    cache = study.root / ".dvc/cache/files"
    left = {path.read_bytes() for path in cache.rglob("*") if path.is_file()}
    assert not any(path.read_bytes() in left for path in (study.run / "artifacts").rglob("*") if path.is_file())
    study.tool("dvc", "repro")
    assert study.digests() == before and (study.run / "dvc.lock").read_bytes() == lock


@pytest.mark.slow
def test_plain_dvc_trains_models_again_whose_weights_were_freed(study: Study) -> None:
    before, lock = study.digests(), (study.run / "dvc.lock").read_bytes()
    study.mtlspec("gc", "small/stl-*", "--free", "--yes")
    assert _trained(study) == {"train-mtl-all-s1": True, "train-stl-ner-s1": False, "train-stl-pos-s1": False}
    done = study.tool("dvc", "repro")
    assert done.stdout.count("Running stage") == 2
    assert study.digests() == before and (study.run / "dvc.lock").read_bytes() == lock
    assert Path(study.run / "artifacts/train-stl-pos-s1" / WEIGHTS).is_file()
