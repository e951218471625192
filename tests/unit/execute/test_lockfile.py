"""DVC's locks are read whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mtlspec.execute.lockfile import read_lock, write_lock

LOCK = Path(__file__).parents[3] / "registry" / "runs" / "stem_cell" / "dvc.lock"
LINES = LOCK.read_text().splitlines(keepends=True)[:120]  # a few stages of a real one
TEXT = "".join(LINES)


def test_a_lock_that_dvc_wrote_is_read_and_written_again_byte_by_byte(tmp_path: Path) -> None:
    stages = read_lock(LOCK)
    assert stages == yaml.safe_load(LOCK.read_bytes())["stages"]
    write_lock(tmp_path / "dvc.lock", stages)
    assert (tmp_path / "dvc.lock").read_bytes() == LOCK.read_bytes()


def test_no_lock_is_an_empty_one(tmp_path: Path) -> None:
    assert read_lock(tmp_path / "dvc.lock") == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(end=st.integers(0, len(TEXT)))
def test_a_part_of_a_lock_is_refused_or_tells_no_lies(end: int, tmp_path: Path) -> None:
    path = tmp_path / "dvc.lock"
    path.write_text(TEXT[:end])
    part, whole = read_lock(path), yaml.safe_load(TEXT)["stages"]
    if part is not None:
        *certain, last = part or [None]
        assert all(part[name] == whole[name] for name in certain)
        assert last is None or part[last]["cmd"] == whole[last]["cmd"][: len(part[last]["cmd"])]


@pytest.mark.parametrize(
    "text", ["", "[]", "stages: 3", "schema: '2.0'\nstages: {a: {cmd: x}}", "<<<<<<< ours\n", "schema: '2.0'\n\xff"]
)
def test_what_is_not_a_lock_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "dvc.lock"
    path.write_bytes(text.encode("latin-1"))
    assert read_lock(path) is None
