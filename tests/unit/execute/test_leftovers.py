"""What a killed command leaves behind is removed before a run, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mtlspec.execute.leftovers import repair_metadata
from mtlspec.io.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for folder in (".dvc/tmp", "specs", "registry/runs/small/records"):
        (tmp_path / folder).mkdir(parents=True)
    return Project(tmp_path)


def _repair(project: Project) -> list[str]:
    return repair_metadata(project, project.run("small"))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", '{"write": 3}', '{"read": {"x": {}}}', '{"write": {"x": {"pid": "y"}}}', '{"write": {', "\xff"],
)
def test_a_list_of_dvc_locks_that_is_none_is_removed(text: str, project: Project) -> None:
    path = project.root / ".dvc/tmp/rwlock"
    path.write_bytes(text.encode("latin-1"))
    assert _repair(project) == [".dvc/tmp/rwlock"]
    assert not path.exists()


def test_only_those_who_still_live_keep_their_locks(project: Project) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    us, parent = ({"pid": pid, "cmd": "run"} for pid in (os.getpid(), os.getppid()))
    dead = {"pid": ended.pid, "cmd": "dvc repro"}
    path = project.root / ".dvc/tmp/rwlock"
    path.write_text(
        json.dumps({"write": {"/a": dead, "/b": us, "/c": parent}, "read": {"/d": [dead, parent], "/e": [us]}})
    )
    assert _repair(project) == []
    assert json.loads(path.read_text()) == {"write": {"/c": parent}, "read": {"/d": [parent]}}
    os.utime(path, (0, 0))  # whoever has that number now was not born yet
    _repair(project)
    assert json.loads(path.read_text()) == {"write": {}, "read": {}}


def test_half_written_files_go_and_others_stay(project: Project) -> None:
    run = project.root / "registry/runs/small"
    gone = [run / "records/.train-x.json.ab12.tmp", run / ".dvc.lock.cd.tmp", project.root / ".dvc.yaml.old.tmp"]
    stay = [
        run / "records/train-x.json",
        run / "notes.tmp",
        project.root / ".dvc.yaml.new.tmp",
        project.root / ".x.tmp",
    ]
    for path in (*gone, *stay):
        path.write_text("x")
    os.utime(gone[-1], (0, 0))
    folder = run / "artifacts/.train-x.ef.old/x"
    folder.mkdir(parents=True)
    assert _repair(project) == []
    assert not any(path.exists() for path in (*gone, folder.parent))
    assert all(path.exists() for path in stay)


def test_a_database_of_digests_that_sqlite_cannot_read_is_removed(project: Project) -> None:
    broken = project.root / ".dvc/tmp/site/repo/ab/links/cache.db"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert _repair(project) == [".dvc/tmp/site/repo/ab/links"]
    assert not broken.parent.exists()
