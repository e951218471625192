"""Where compiled code is cached."""

from __future__ import annotations

import os
import pickle
import runpy
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import mtlspec
from mtlspec.structs import _compile, _sealed_cache

MODULE = """
from mtlspec.structs._compile import compiled

@compiled
def double(x):
    return 2 * x
"""


def run(folder: Path) -> None:
    """Call a compiled function once, in a new process that stands in `folder` and has a home of its own."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (folder / "doubling.py").write_text(MODULE)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "XDG"))}
    environment |= {"HOME": str(home), "PYTHONPATH": str(Path(mtlspec.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    code = "from doubling import double; print(double(21))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("42\n", "")
    assert not list(home.rglob("*.nb*"))


def project(folder: Path) -> Path:
    for name in ("registry", "specs"):
        (folder / name).mkdir()
    return folder


def cached(folder: Path, kind: str) -> Path:
    (path,) = (folder / ".mtlspec" / "numba").rglob(f"*.{kind}")
    return path


def package_files() -> set[Path]:
    return set(Path(mtlspec.__file__).parent.rglob("*.nb*"))


def test_machine_code_is_cached_inside_the_project_for_us_alone(tmp_path):
    before = package_files()
    run(project(tmp_path))
    assert (tmp_path / ".mtlspec" / "numba").stat().st_mode & 0o777 == 0o700
    for kind in ("nbi", "nbc"):
        assert cached(tmp_path, kind).stat().st_mode & 0o777 == 0o600
    assert package_files() == before
    kept = {kind: cached(tmp_path, kind).stat().st_mtime_ns for kind in ("nbi", "nbc")}
    run(tmp_path)
    assert kept == {kind: cached(tmp_path, kind).stat().st_mtime_ns for kind in kept}, "loaded, not compiled again"


class _Intruder:
    """Unpickling it leaves a file behind."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["cut", "empty", "a flipped bit", "of somebody else", "writable by others"])
def test_machine_code_that_cannot_be_trusted_is_compiled_anew(kind, damage, tmp_path, monkeypatch):
    """In one process: loading reads the files each time, since every compiled function is new."""
    monkeypatch.chdir(project(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    _compile._cache_ready.cache_clear()
    source = tmp_path / "doubling.py"
    source.write_text(MODULE)

    def misses() -> int:
        functions = runpy.run_path(str(source))
        assert functions["double"](21) == 42
        return sum(functions["double"].stats.cache_misses.values())

    try:
        assert [misses(), misses()] == [1, 0]
        path, trace = cached(tmp_path, kind), tmp_path / "intruder"
        content = path.read_bytes()
        if damage == "cut":
            path.write_bytes(content[:-7])
        elif damage == "empty":
            path.write_bytes(b"")
        elif damage == "a flipped bit":
            path.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        else:
            _sealed_cache._seal(path, pickle.dumps(_Intruder(trace)))
        if damage == "of somebody else":
            monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        elif damage == "writable by others":
            path.chmod(0o620)
        assert misses() == 1
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid)
        assert misses() == 0, "written anew"
        assert not trace.exists()
    finally:
        _compile._cache_ready.cache_clear()


def test_outside_a_project_nothing_is_written(tmp_path):
    before = package_files()
    run(tmp_path)
    assert not list(tmp_path.rglob("*.nb*"))
    assert package_files() == before


STARTED_TOGETHER = """
import sys
import torch
from mtlspec.structs._compile import compiled, on_tensors

@compiled
def total(x):
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i]
    x[0] = result

call = on_tensors(total)
print("ready", flush=True)
sys.stdin.readline()
call(torch.ones(3))
print(sum(total.stats.cache_misses.values()))
"""


def test_processes_that_start_together_compile_once(tmp_path):
    for name in ("registry", "specs"):
        (tmp_path / name).mkdir()
    (tmp_path / "together.py").write_text(STARTED_TOGETHER)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA")}
    environment |= {"PYTHONPATH": str(Path(mtlspec.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, "together.py"],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    misses = [int(process.communicate(timeout=120)[0]) for process in processes]
    assert sorted(misses) == [0, 1]
