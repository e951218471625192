"""Where compiled code is cached."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mtlspec

MODULE = """
from mtlspec.structs._compile import compiled

@compiled
def double(x):
    return 2 * x
"""


def run(folder: Path) -> None:
    """Call a compiled function once, in a new process that stands in `folder` and has a home of its own."""
    home = folder / "home"
    home.mkdir()
    (folder / "doubling.py").write_text(MODULE)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "XDG"))}
    environment |= {"HOME": str(home), "PYTHONPATH": str(Path(mtlspec.__file__).parents[1]), "OMP_NUM_THREADS": "1"}
    code = "from doubling import double; print(double(21))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("42\n", "")
    assert not list(home.rglob("*.nb*"))


def package_files() -> set[Path]:
    return set(Path(mtlspec.__file__).parent.rglob("*.nb*"))


def test_machine_code_is_cached_inside_the_project(tmp_path):
    for name in ("registry", "specs"):
        (tmp_path / name).mkdir()
    before = package_files()
    run(tmp_path)
    assert list((tmp_path / ".mtlspec" / "numba").rglob("*.nbi"))
    assert package_files() == before


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
