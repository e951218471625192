"""A disk that takes no more names the file. The kernel's limit for file sizes stands in for it."""

from __future__ import annotations

import errno
import os
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mtlspec.execute.failure import failure
from mtlspec.execute.job import run_job
from mtlspec.io.disk import is_full, named_file
from mtlspec.io.write import write_bytes
from tests.faults.injection import create


@contextmanager
def limited(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_write_that_does_not_fit_names_its_file_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with pytest.raises(OSError) as caught, limited(10):
        write_bytes(path, b"x" * 11)
    assert is_full(caught.value)
    assert named_file(caught.value, Path()) == path
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_found_behind_errors_of_libraries() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/a")
    outer = RuntimeError("cannot save")
    outer.__cause__ = full
    assert is_full(outer) and named_file(outer, Path("/b")) == Path("/a")
    tensors = Exception("Error while serializing: I/O error: No space left on device (os error 28)")  # as safetensors
    assert is_full(tensors) and named_file(tensors, Path("/b")) == Path("/b")
    assert is_full(sqlite3.OperationalError("database or disk is full"))
    assert not is_full(PermissionError(errno.EACCES, "Permission denied", "/a"))
    assert not is_full(ValueError("space"))


def test_a_stage_on_a_full_disk_says_so_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from mtlspec.execute.materialise import materialise
    from mtlspec.io.project import Project

    create(tmp_path)
    planned = materialise(Project(tmp_path), tmp_path / "specs" / "small.yaml")
    planned.write()
    with limited(100):
        code = run_job([str(planned.places.base), "data-one", "", ""])
    (line,) = capsys.readouterr().err.splitlines()
    assert code == 4
    assert "error E420: the disk is full" in line and "data-one" in line.split(": ")[0]
    assert not list((planned.places.base / "artifacts").iterdir())


def test_a_stage_that_could_not_say_why_is_told_by_the_room_that_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = {"status": 4, "tail": ""}
    log = tmp_path / "work" / "train-x.log"
    assert failure("train-x", reply, log).code == "E410", "nobody knows: the folder is not there"
    log.parent.mkdir()
    assert failure("train-x", reply, log).code == "E410"
    about = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _folder: os.statvfs_result((*about[:4], 0, *about[5:])))
    assert str(failure("train-x", reply, log)).startswith(f"{log.parent}: error E421: ")
    assert failure("train-x", {"status": 4, "tail": "x: error E401: said"}, log).code == "E410"
