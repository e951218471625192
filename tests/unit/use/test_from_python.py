"""`mtlspec.load` and `mtlspec.results`: one object that predicts and has its parts, whatever was imported before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import mtlspec
from mtlspec.errors import MtlspecError, SpecError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel
from tests.unit.use.conftest import Trained

SENTENCES = [["the", "cow", "sees", "her"], ["she", "sees"]]


def test_a_loaded_model_predicts_and_has_its_parts(words: Trained) -> None:
    model = mtlspec.load(str(words.train))
    assert isinstance(model, MultiTaskModel) and not isinstance(model, Encoder)
    (first, second) = model.predict(SENTENCES, tasks=["pos"])
    assert first["words"] == SENTENCES[0] and len(second["tasks"]["pos"]) == 2
    assert [task.name for task in model.tasks] == list(model.predictor.tasks)
    assert model.encoder.heads.counts and not model.module.training


def test_what_is_done_to_its_parts_shows_in_predictions(words: Trained) -> None:
    import torch

    model = mtlspec.load(words.train)
    assert not isinstance(model, Encoder)
    before = model.predict(SENTENCES, tasks=["pos"], probabilities=True)
    with torch.no_grad():
        next(iter(model.tasks[0].module.parameters())).zero_()
    assert model.predict(SENTENCES, tasks=["pos"], probabilities=True) != before


@pytest.mark.parametrize("imported", ["mtlspec", "mtlspec.results.tables", "mtlspec.use.frames"])
def test_results_can_be_called_whatever_was_imported_before(imported: str, tmp_path: Path) -> None:
    """The package `mtlspec.results` has the name of the function."""
    (tmp_path / "registry").mkdir()
    (tmp_path / "specs").mkdir()
    code = f"import {imported}, mtlspec\ntry: mtlspec.results('no')\nexcept mtlspec.errors.MtlspecError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("error E525: the registry has no record of 'no'")


def test_importing_mtlspec_is_light() -> None:
    code = "import mtlspec, sys; print(sorted(name for name in sys.modules if name.startswith(('mtlspec.', 'torch'))))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("reference", ["no_run/stl-pos-s1", "./nowhere", Path("nowhere")])
def test_what_is_no_model_is_one_line(reference: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "registry").mkdir()
    (tmp_path / "specs").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MtlspecError, match=r"E541: no run is called 'no_run'|E362: there is no such directory") as told:
        mtlspec.load(reference)
    assert isinstance(told.value, SpecError) == (reference == "no_run/stl-pos-s1")
