"""What is freed is the run's own, wherever a kill comes; what another artifact names stays in the cache."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from mtlspec.execute.freeing import Store, size
from mtlspec.execute.lockfile import write_lock
from mtlspec.io.freed import WEIGHTS, is_freed, kept_gates, verify_but_weights
from mtlspec.io.manifest import verify_manifest, write_manifest
from mtlspec.io.project import Project

KILLED = """
import itertools, os, shutil, signal, sys
from pathlib import Path
import safetensors.numpy
from mtlspec.execute.freeing import Store
from mtlspec.io.project import Project

source, folder, what = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

def die_at(number):
    seen = itertools.count(1)
    def hook(event, arguments):
        if event in ("os.remove", "os.rename", "os.rmdir", "os.mkdir") and next(seen) == number:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)

for number in itertools.count(1):
    root = folder / str(number)
    shutil.copytree(source, root)
    child = os.fork()
    if not child:
        store = Store(Project(root))
        die_at(number)
        if what == "weights":
            store.free_weights(store.project.run("a"), ["train-x", "train-y"], ["train-y"])
        else:
            store.free_artifacts(store.project.run("a"), ["train-x", "train-y"])
        os._exit(0)
    if os.waitpid(child, 0)[1] != signal.SIGKILL:
        break
"""


def _cached(project: Project, data: bytes, end: str = "") -> str:
    md5 = hashlib.md5(data).hexdigest()
    path = project.root / ".dvc/cache/files/md5" / md5[:2] / f"{md5[2:]}{end}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return md5 + end


def _record(project: Project, run: str, models: dict[str, int]) -> None:
    """A run whose models are in the cache, as DVC leaves it; models with the same number have the same weights."""
    places = project.run(run)
    entries = {}
    for name, number in models.items():
        folder = places.artifact(name)
        folder.mkdir(parents=True)
        weights = {"encoder.w": np.full(300, number, np.float32), "sharing.gates": np.arange(4.0)}
        save_file(weights, folder / WEIGHTS)
        (folder / "model.json").write_text(json.dumps({"of": [name, run]}))
        write_manifest(folder)
        listing = [
            {"md5": _cached(project, path.read_bytes()), "relpath": path.name} for path in sorted(folder.iterdir())
        ]
        tree = _cached(project, json.dumps(listing).encode(), ".dir")
        entries[name] = {"cmd": "x", "outs": [{"path": f"artifacts/{name}", "hash": "md5", "md5": tree}]}
    (places.base / "dvc.yaml").write_text("")
    write_lock(places.base / "dvc.lock", entries)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two runs; `train-x` of both has the same weights, and so has `train-z` of the first."""
    for name in ("registry", "specs"):
        (tmp_path / name).mkdir()
    project = Project(tmp_path)
    _record(project, "a", {"train-x": 1, "train-y": 2, "train-z": 1})
    _record(project, "b", {"train-x": 1})
    return project


def _weights_cached(project: Project) -> int:
    """Objects in the cache that hold weights."""
    return sum(path.stat().st_size > 1000 for path in (project.root / ".dvc/cache/files").rglob("*") if path.is_file())


def test_weights_go_and_all_else_of_an_artifact_stays(project: Project) -> None:
    places, store = project.run("a"), Store(project)
    sealed = verify_manifest(places.artifact("train-y"))
    held = (places.artifact("train-y") / WEIGHTS).stat().st_size
    assert store.free_weights(places, ["train-y"], ()) == 2 * held  # here, and in the cache
    assert is_freed(places.artifact("train-y")) and verify_but_weights(places.artifact("train-y")) == sealed
    assert kept_gates(places.artifact("train-y")) is None and _weights_cached(project) == 1


def test_gates_are_kept_where_the_spec_says_so(project: Project) -> None:
    places = project.run("a")
    Store(project).free_weights(places, ["train-y"], ["train-y"])
    gates = kept_gates(places.artifact("train-y"))
    assert gates is not None and {name: list(x) for name, x in load_file(gates).items()} == {
        "sharing.gates": [0, 1, 2, 3]
    }
    assert (places.base / "kept/.gitignore").read_text() == "*\n"


def test_what_others_name_stays_in_the_cache_until_they_free_it_too(project: Project) -> None:
    a, b = project.run("a"), project.run("b")
    Store(project).free_weights(a, ["train-x"], ())
    assert _weights_cached(project) == 2
    Store(project).free_weights(a, ["train-z"], ())
    assert _weights_cached(project) == 2 and verify_manifest(b.artifact("train-x"))
    Store(project).free_weights(b, ["train-x"], ())
    assert _weights_cached(project) == 1


def test_whole_artifacts_of_a_run_leave_those_of_others_alone(project: Project) -> None:
    a, b = project.run("a"), project.run("b")
    before = verify_manifest(b.artifact("train-x"))
    Store(project).free_artifacts(a, ["train-x", "train-y", "train-z"])
    assert not any((a.base / "artifacts").iterdir())
    store = Store(project)
    assert verify_manifest(b.artifact("train-x")) == before
    assert store.cache.has([store.trees[b.artifact("train-x")]])  # with all that its listing names
    assert {path.name for path in (project.root / ".dvc/cache/files/md5").rglob("*") if path.is_file()} == {
        path.name
        for path in [
            *store.objects(b.artifact("train-x")).values(),
            store.cache.object(store.trees[b.artifact("train-x")]),
        ]
    }


def test_a_cache_outside_the_project_is_not_touched(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("shared") / "cache"
    (project.root / ".dvc/cache").rename(elsewhere)
    (project.root / ".dvc/config").write_text(f"[cache]\n    dir = {elsewhere}\n")
    before = size(elsewhere)
    Store(project).free_artifacts(project.run("a"), ["train-y"])
    assert size(elsewhere) == before > 0


@pytest.mark.parametrize("what", ["weights", "artifacts"])
def test_a_kill_leaves_what_the_next_one_finishes(what: str, project: Project, tmp_path_factory: Any) -> None:
    """At every change of the disk. What is left is whole, says what it lacks, or is no artifact."""
    folder = tmp_path_factory.mktemp("killed")
    subprocess.run([sys.executable, "-c", KILLED, project.root, folder, what], check=True)
    assert len(list(folder.iterdir())) > 6
    for root in folder.iterdir():
        store = Store(Project(root))
        a, b = store.project.run("a"), store.project.run("b")
        for name in ("train-x", "train-y"):
            if (a.artifact(name) / "manifest.json").is_file():
                assert (verify_but_weights if what == "weights" else verify_manifest)(a.artifact(name))
        if what == "weights":
            assert not is_freed(a.artifact("train-y")) or kept_gates(a.artifact("train-y")) is not None
            store.free_weights(a, ["train-x", "train-y"], ["train-y"])
            assert is_freed(a.artifact("train-x")) and kept_gates(a.artifact("train-y")) is not None
        else:
            store.free_artifacts(a, ["train-x", "train-y"])
            assert sorted(path.name for path in (a.base / "artifacts").iterdir()) == ["train-z"]
        assert _weights_cached(store.project) == 1
        assert verify_manifest(b.artifact("train-x")) and store.cache.has([store.trees[b.artifact("train-x")]])
