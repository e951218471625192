"""A recording that was killed at a change of the disk, or damaged, is mended by the next run, to the same bytes."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mtlspec.errors import SetupError
from mtlspec.execute import recorder
from mtlspec.io.project import Project
from tests.faults.injection import Death, an_hour_later, create, kept, run

_RUNS = "/cache/runs/"
_FIRST = 4  # changes below the run cache until the folder of the first entry is there, empty
RUN = Path("registry/runs/small")


@pytest.fixture(scope="module")
def finished(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording that nobody disturbed."""
    root = tmp_path_factory.mktemp("finished") / "project"
    create(root)
    code, said = run(server, root)
    assert code == 0, said
    return root


def _dies_and_recovers(server: Any, root: Path, death: Death, finished: Path) -> bool:
    """False if the recording came to its end before it could die."""
    shutil.rmtree(root, ignore_errors=True)
    create(root)
    code, said = run(server, root, death)
    if code == 0:
        return False
    assert code in (-signal.SIGKILL, -signal.SIGXFSZ), f"{death}: {said}"
    an_hour_later(root)
    code, said = run(server, root)
    assert code == 0, f"{death}: {said}"
    assert kept(root) == kept(finished), death
    return True


@pytest.mark.parametrize(
    "death",
    [
        Death(_FIRST + 2, where=_RUNS),  # an empty folder is left
        Death(_FIRST + 3, size=0, where=_RUNS),  # an empty file in it
        Death(_FIRST + 3, size=120, where=_RUNS),  # a part that is valid YAML
        Death(_FIRST + 5, where=_RUNS),  # all of it, under a temporary name
        Death(1, size=10, where="records/"),
        Death(2, size=100, where="files/md5/"),
        Death(1, where="dvc.lock"),
    ],
    ids=str,
)
def test_a_killed_recording_recovers(death: Death, server: Any, finished: Path, tmp_path: Path) -> None:
    assert _dies_and_recovers(server, tmp_path / "project", death, finished)


def _sweep(server: Any, root: Path, size: int | None, finished: Path) -> Iterator[int]:
    for change in range(1, 10_000):
        if not _dies_and_recovers(server, root, Death(change, size), finished):
            return
        yield change


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, 0, 40])
def test_a_recording_recovers_from_a_kill_at_every_change_of_the_disk(
    size: int | None, server: Any, finished: Path, tmp_path: Path
) -> None:
    """Before each change (None), and where a file that is written from there on gets its first or 41st byte."""
    assert sum(1 for _ in _sweep(server, tmp_path / "project", size, finished)) >= 200


def _entries(root: Path) -> list[Path]:
    return sorted(path for path in (root / ".dvc/cache/runs").rglob("*") if path.is_file())


def _cut(path: Path, size: int) -> None:
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:size])


def _listings(root: Path) -> list[Path]:
    return sorted((root / ".dvc/cache/files").rglob("*.dir"))


def _objects(root: Path) -> list[Path]:
    return sorted(path for path in (root / ".dvc/cache/files").rglob("*") if path.is_file())


def _damage_entries(root: Path) -> None:
    shutil.rmtree(root / RUN / "artifacts")
    for path in _entries(root):
        text = path.read_text()
        _cut(path, text.index("outs:"))


def _garble_entries(root: Path) -> None:
    shutil.rmtree(root / RUN / "artifacts")
    (root / RUN / "dvc.lock").unlink()
    first, second = _entries(root)
    first.write_text("[]")
    second.write_bytes(b"\xff\x00")


def _put_folders_in_place_of_entries(root: Path) -> None:
    shutil.rmtree(root / RUN / "artifacts")
    for path in _entries(root):
        path.unlink()
        (path / "in it").mkdir(parents=True)
        (path / "in it" / "file").touch()


def _put_files_in_place_of_folders(root: Path) -> None:
    shutil.rmtree(root / RUN / "artifacts")
    (root / RUN / "dvc.lock").unlink()
    first, second = _entries(root)
    for folder in (first.parent, second.parent.parent):
        shutil.rmtree(folder)
        folder.touch()


def _put_folders_in_place_of_objects(root: Path) -> None:
    shutil.rmtree(root / RUN / "artifacts")
    for path in _objects(root):
        path.unlink()
        path.mkdir()


def _lose_run_cache(root: Path) -> None:
    shutil.rmtree(root / RUN / "artifacts")
    shutil.rmtree(root / RUN / "records")
    shutil.rmtree(root / ".dvc/cache/runs")


def _lose_run_cache_and_damage_objects(root: Path) -> None:
    _lose_run_cache(root)
    for path in _objects(root):
        if not path.name.endswith(".dir"):
            path.chmod(0o644)
            path.write_bytes(path.read_bytes().replace(b"1", b"2"))
            path.chmod(0o444)  # DVC believes files of this mode


def _cut_listings(root: Path) -> None:
    _lose_run_cache(root)
    for path in _listings(root):
        _cut(path, 30)
        path.chmod(0o444)


def _lose_objects(root: Path) -> None:
    shutil.rmtree(root / RUN / "artifacts")
    shutil.rmtree(root / ".dvc/cache/files")


def _cut_lock_and_record(root: Path) -> None:
    _cut(root / RUN / "dvc.lock", 300)
    _cut(root / RUN / "records/data-one.json", 50)


def _garble_databases(root: Path) -> None:
    for path in (root / ".dvc/tmp/site").rglob("cache.db"):
        path.write_bytes(b"SQLite format 3\x00" + b"x" * 5000)


DAMAGES: list[Callable[[Path], None]] = [
    _damage_entries,
    _garble_entries,
    _put_folders_in_place_of_entries,
    _put_files_in_place_of_folders,
    _put_folders_in_place_of_objects,
    _lose_run_cache,
    _lose_run_cache_and_damage_objects,
    _cut_listings,
    _lose_objects,
    _cut_lock_and_record,
    _garble_databases,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__.strip("_"))
def test_damage_is_mended(damage: Callable[[Path], None], server: Any, finished: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    shutil.copytree(finished, root)
    damage(root)
    code, said = run(server, root)
    assert code == 0, said
    assert kept(root) == kept(finished)


@pytest.mark.parametrize("where", ["/cache/runs/", "files/md5/", "dvc.lock", ".dvc/tmp/rwlock", "/stages/"])
def test_a_full_disk_is_one_line_and_the_next_run_goes_on(
    where: str, server: Any, finished: Path, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    create(root)
    code, said = run(server, root, Death(3, size=40, where=where, full=True))
    assert code == 1
    assert ("error E634: the disk is full" in said or "error E639: the disk is full" in said) and "\n" not in said
    code, said = run(server, root)
    assert code == 0, said
    assert kept(root) == kept(finished)


@pytest.mark.parametrize("text", ["[core\n", "[core]\n    analytics = maybe\n", "\x00"])
def test_a_broken_configuration_of_dvc_is_one_line(text: str, server: Any, tmp_path: Path) -> None:
    root = tmp_path / "project"
    create(root)
    (root / ".dvc/config").write_text(text)
    code, said = run(server, root)
    assert code == 1
    assert "error E637: DVC refuses" in said and "config" in said and "\n" not in said


def test_a_run_waits_for_those_who_hold_the_files_of_a_stage(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as plain DVC runs a stage, it holds its files but not the repository."""
    root = tmp_path / "project"
    shutil.copytree(finished, root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("DVC_SITE_CACHE_DIR", str(root / ".dvc/tmp/site"))
    project = Project(root)
    held = root / ".dvc/tmp/rwlock"
    holder = {"pid": os.getppid(), "cmd": "dvc repro"}
    told = []

    def release(what: str) -> None:
        told.append(what)
        held.write_text("{}")

    monkeypatch.setattr(recorder, "_PAUSE", 0.0)
    judge = recorder.Recorder(project, project.run("small"), [], release)
    assert judge.reasons("data-one") == [] and told == []
    held.write_text(json.dumps({"write": {str(root / RUN / "artifacts/data-one"): holder}}))
    assert judge.reasons("data-two") == [] and told == []
    assert judge.reasons("data-one") == []
    assert told == ["another DVC command"]
    held.write_text(json.dumps({"read": {str(root / RUN / "artifacts"): [holder]}}))
    assert judge.reasons("data-one") == [], "who only looks does not wait for who reads"
    monkeypatch.setattr(recorder, "_PATIENCE", -1.0)
    with pytest.raises(SetupError, match="dvc repro") as caught:
        judge.restore("data-one")
    assert caught.value.code == "E605"
    judge.close()
