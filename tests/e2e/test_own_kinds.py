"""The page on own kinds, word for word, in a fresh project."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.study import DATA_CARD, ENCODER_CARD

pytestmark = pytest.mark.xdist_group("e2e")
PAGE = Path(__file__).parents[2] / "docs/own_kinds.md"
BLOCK = re.compile(r"`((?:kinds|specs)/[\w/.]+\.\w+)`(?:(?!```).)*```\w+\n(.*?)```", re.DOTALL)  # a file, then its text
SMALL = {r"^seeds: .*": "seeds: [1]", r"^  epochs: .*": "  epochs: 1", r"^  examples: .*": ""}
OWN = "kinds/sharing/task_gains.py"


class Fresh:
    """A project of `mtlspec init` with the files of the page, small enough to be run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.run("git", "init", "-q")
        self.mtlspec("init", "first")
        for path, text in BLOCK.findall(PAGE.read_text()):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        (root / "registry/data/english_mini.yaml").write_text(DATA_CARD.replace("name: mini", "name: english_mini"))
        (root / "registry/encoders/tiny.yaml").write_text(ENCODER_CARD.replace("name: micro", "name: tiny"))
        first = (root / "specs/first.yaml").read_text()
        for pattern, small in (
            (r"^seeds: .*", "seeds: [1]"),
            (r"^  epochs: .*", "  epochs: 1"),
            (r"^  examples: .*", ""),
        ):
            first = re.sub(pattern, small, first, flags=re.MULTILINE)
        (root / "specs/first.yaml").write_text(first)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "DVC_NO_ANALYTICS": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done

    def mtlspec(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "mtlspec", *arguments)

    def to_run(self) -> set[str]:
        plan = json.loads(self.mtlspec("plan", "gains", "--json").stdout)
        return {stage["stage"] for stage in plan["stages"] if stage["state"] != "cached"}


@pytest.fixture
def fresh(tmp_path: Path) -> Fresh:
    return Fresh(tmp_path)


def test_what_the_page_shows_is_correct_and_keeps_all_promises(fresh: Fresh) -> None:
    assert "gains (1)" in fresh.mtlspec("check", "gains").stdout
    files = {path.relative_to(fresh.root).as_posix() for path in (fresh.root / "kinds").glob("*/*.py")}
    assert files == {OWN, "kinds/samplers/turns.py"}
    tried = fresh.mtlspec("doctor", "--kinds").stdout.splitlines()
    assert tried[-1] == "2 kinds: all promises are kept"
    assert {"sharing/task_gains", "samplers/turns"} <= set(tried)


@pytest.mark.slow
def test_it_runs_and_an_edit_runs_again_what_it_concerns(fresh: Fresh) -> None:
    """Also for plain DVC, in fresh processes, and when everything is computed again."""
    fresh.mtlspec("run", "gains", "--no-publish")
    assert fresh.to_run() == set()
    records = fresh.root / "registry/runs/gains/records"
    assert json.loads((records / "train-gains-all-s1.json").read_text())["scores"]["dev/mean"] > 0
    own = fresh.root / OWN
    own.write_text(own.read_text() + "\n# edited\n")
    trained = {"train-gains-all-s1", "evaluate-gains-all-s1"}
    assert fresh.to_run() == {*trained, "analyse-scores", "report"}
    pipeline = "registry/runs/gains/dvc.yaml"
    fresh.run("dvc", "repro", f"{pipeline}:plan")
    stale = set(re.findall(rf"^{pipeline}:([\w-]+):$", fresh.run("dvc", "status", pipeline).stdout, re.MULTILINE))
    assert stale == trained, "what comes after them depends on their bytes, which are the same"
    fresh.run("dvc", "repro", "--single-item", f"{pipeline}:train-gains-all-s1")
    fresh.mtlspec("run", "gains", "--no-publish")
    assert fresh.to_run() == set()
    fresh.mtlspec("verify", "gains", "--rerun")
    code = (
        f"import mtlspec; print(type(mtlspec.load({str(records.parent / 'artifacts/train-gains-all-s1')!r}).sharing))"
    )
    assert "task_gains.TaskGains" in fresh.run(sys.executable, "-c", code).stdout
