"""Families that are extended by another folder: for as long as that is asked for, and not a moment longer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from mtlspec import kinds
from mtlspec.plan.code import code_unit
from mtlspec.spec.families import SAMPLERS
from mtlspec.spec.models import TrainOptions

KIND = '''"""A kind from elsewhere."""

from typing import Literal

from pydantic import Field

from mtlspec.spec.families import SamplerOptions


class Options(SamplerOptions):
    type: Literal["elsewhere"]
    pace: int = Field(default={pace}, description="A number.")

    def build(self, *_):
        from mtlspec.structs.arcs import something
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere.py").write_text(KIND.format(pace=3))
    return tmp_path


def _sampler() -> object:
    return TrainOptions.model_validate({"sampler": {"type": "elsewhere"}}).sampler.model_dump()


def test_a_spec_takes_the_kind_while_the_family_is_extended(folder: Path) -> None:
    before = kinds.names(SAMPLERS)
    for _ in range(2):
        with pytest.raises(ValidationError):
            _sampler()
        with kinds.extended(SAMPLERS, folder):
            assert set(kinds.names(SAMPLERS)) == {*before, "elsewhere"}
            assert _sampler() == {"type": "elsewhere", "pace": 3}
        assert kinds.names(SAMPLERS) == before


def test_an_edit_between_two_uses_is_seen_by_specs_and_fingerprints(folder: Path) -> None:
    found = []
    for pace in (3, 40):
        (folder / "elsewhere.py").write_text(KIND.format(pace=pace))
        with kinds.extended(SAMPLERS, folder):
            unit = code_unit("train", [kinds.options_class(SAMPLERS, "elsewhere").module()])
            found.append((_sampler(), unit.files["kinds:samplers/elsewhere.py"]))
            assert "structs/arcs.py" in unit.files
    (first, digest), (second, other) = found
    assert (first, second) == ({"type": "elsewhere", "pace": 3}, {"type": "elsewhere", "pace": 40})
    assert digest != other


def test_processes_that_start_meanwhile_know_it_too(folder: Path) -> None:
    code = "from mtlspec import kinds; print(*kinds.names('mtlspec.train.samplers'))"
    with kinds.extended(SAMPLERS, folder):
        inside = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    outside = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "elsewhere" in inside.split() and "elsewhere" not in outside.split()
