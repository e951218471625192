"""Kill -9, Ctrl-C and edits in the middle of a run: nothing half-written, nothing lost, the same bits in the end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.e2e.study import SPEC, Study

SLOWLY = "epochs: 15, patience: 1.0, checkpoint_every: 5"
ALL_SLOWLY = SPEC.replace("epochs: 1,", f"{SLOWLY},")
RESUMED = r"^ resumed  train-[a-z-]+-s1 from update \d+ of \d+$"
ONE_SLOWLY = SPEC.replace("mtl: {tasks: all, sharing: hard", f"mtl: {{tasks: all, sharing: hard, train: {{{SLOWLY}}}")


def _start(study: Study, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        study.command(*arguments),
        cwd=study.root,
        env=study.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _wait_until(holds: Callable[[], object], otherwise: str) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.02)


def _resume_points(study: Study) -> set[tuple[str, int]]:
    """Each with its time: a resume point replaces the one before it."""
    found = set()
    for path in (study.run / "work").glob("train-*/update-*"):
        with suppress(FileNotFoundError):
            found.add((path.parent.name, path.stat().st_mtime_ns))
    return found


def _processes_in(root: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if (entry / "cwd").resolve() == root:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_an_interrupted_run_goes_on_where_it_stopped(study: Study) -> None:
    (study.root / "specs" / "small.yaml").write_text(ALL_SLOWLY)
    for how in (signal.SIGINT, signal.SIGKILL):
        seen = _resume_points(study)
        run = _start(study, "run", "small", "--no-publish")
        if how == signal.SIGKILL:  # a resume point may be faster than the line that tells of the one before
            assert run.stderr and any(re.match(RESUMED, line) for line in run.stderr)
        _wait_until(lambda seen=seen: _resume_points(study) - seen, "no new resume point")
        run.send_signal(how)
        _, errors = run.communicate(timeout=60)
        if how == signal.SIGINT:
            assert run.returncode == 130
            _check_what_is_told(study, errors.splitlines())
        _wait_until(lambda: not _processes_in(study.root), "processes outlived the run")
        assert _resume_points(study), "resume points survive"
    study.mtlspec("run", "small", "--no-publish")
    interrupted = study.digests()
    assert not list((study.run / "artifacts").glob(".*")), "no temporary folder is left in the end"
    assert "up to date" in study.tool("dvc", "status").stdout
    assert study.mtlspec("verify", "small", "--rerun").returncode == 0, "an uninterrupted run gives the same bits"
    assert study.digests() == interrupted


def _check_what_is_told(study: Study, errors: list[str]) -> None:
    """The last lines: how much is kept, from where running stages go on, and with which command."""
    first = next(number for number, line in enumerate(errors) if line.startswith("interrupted: "))
    found = re.fullmatch(r"interrupted: (\d+) of 11 stages are done and kept", errors[first])
    assert found and int(found[1]) >= 3  # data, encoder and prepared data were there before
    told = errors[first + 1 : -1]
    points = {path.parent.name: int(path.name.removeprefix("update-")) for path in _sorted_points(study)}
    for stage, update in points.items():
        assert any(re.fullmatch(rf"  {stage} goes on from update {update:,} of \d+", line) for line in told), told
    assert len(told) >= len(points) > 0
    assert errors[-1] == "`mtlspec run small` goes on"


def _sorted_points(study: Study) -> list[Path]:
    return sorted((study.run / "work").glob("train-*/update-*"))


def test_a_dependency_edited_in_the_middle_of_a_stage_is_caught_and_named(study: Study) -> None:
    (study.root / "specs" / "small.yaml").write_text(ONE_SLOWLY)
    run = _start(study, "run", "small", "--no-publish")
    _wait_until(lambda: _resume_points(study), "no resume point")
    statistics = study.run / "artifacts" / "prepare-mini-micro" / "statistics.json"
    statistics.write_text(statistics.read_text() + " ")
    _, errors = run.communicate(timeout=120)
    assert run.returncode == 4
    assert "prepare" in errors and ("statistics.json" in errors or "changed while" in errors)
    assert not list((study.run / "artifacts").glob("train-mtl-*")), "what was computed from it is not kept"
    study.mtlspec("run", "small", "--no-publish")
    assert "up to date" in study.tool("dvc", "status").stdout
