"""A small but whole study in a project of its own; on request with its own copy of the package, for tests to edit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mtlspec
from mtlspec.io.project import Project

REPOSITORY = Path(mtlspec.__file__).parents[1]
DATA_CARD = """\
card: data
name: mini
licence: CC0-1.0
source: made by a grammar
generator: {type: english_mini, seed: 7, train: 60, dev: 20, test: 20}
files:
- reader: {type: conllu}
  paths: {train: train.conllu, dev: dev.conllu, test: test.conllu}
  layers: {xpos: xpos}
- reader: {type: conll2012}
  paths: {train: train.conll12, dev: dev.conll12, test: test.conll12}
  layers: {ner: ner}
"""

ENCODER_CARD = """\
card: encoder
name: micro
licence: Apache-2.0
source: {type: pretrain, layers: 1, heads: 2, width: 16, feed_forward: 32, epochs: 1}
"""

SPEC = """\
mtlspec: 1
name: small
data: mini
encoder: {card: micro}
tasks:
  pos: {type: tagging, layer: xpos}
  ner: {type: tagging, layer: ner, decoder: crf}
train: {epochs: 1, batch: {sentences: 16, tokens: 1600}}
seeds: [1]
models:
  stl: {tasks: each, sharing: hard}
  mtl: {tasks: all, sharing: hard}
analyses:
  scores: {type: score_matrix, models: [stl, mtl]}
"""


@dataclass(frozen=True)
class Study:
    root: Path

    @classmethod
    def create(cls, root: Path, spec: str = SPEC, own_package: bool = False) -> Study:
        (root / "specs").mkdir(parents=True)
        (root / "registry" / "data").mkdir(parents=True)
        (root / "registry" / "encoders").mkdir()
        (root / "specs" / "small.yaml").write_text(spec)
        (root / "registry" / "data" / "mini.yaml").write_text(DATA_CARD)
        (root / "registry" / "encoders" / "micro.yaml").write_text(ENCODER_CARD)
        if own_package:
            shutil.copytree(REPOSITORY / "mtlspec", root / "mtlspec", ignore=shutil.ignore_patterns("__pycache__"))
        for name in (".dvcignore", ".gitignore", "requirements.lock"):
            shutil.copy(REPOSITORY / name, root / name)
        study = cls(root)
        study.tool("git", "init", "-q")
        study.tool("dvc", "init", "-q")
        with (root / ".dvc" / "config").open("a") as config:
            config.write("[cache]\n    type = copy\n")
        return study

    def copy(self, target: Path) -> Study:
        shutil.copytree(self.root, target, symlinks=True)
        return Study(target)

    def mtlspec(self, *arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        return self._run(self.command(*arguments), check, environment)

    @staticmethod
    def command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "mtlspec", *arguments]

    def tool(
        self, name: str, *arguments: str, check: bool = True, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return self._run([shutil.which(name, path=self.environment["PATH"]) or name, *arguments], check, environment)

    def _run(self, command: list[str], check: bool, extra: dict[str, str]) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=self.root, env={**self.environment, **extra}, capture_output=True, text=True, check=False
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done

    @property
    def environment(self) -> dict[str, str]:
        """`python -m mtlspec` and `mtlspec` both use the copy of the package in the project, if it has one.

        Machine code is kept by the path of its source: those that use our package use its machine code too.
        """
        own = (self.root / "mtlspec").exists()
        compiled = {} if own else {"NUMBA_CACHE_DIR": str(_machine_code())}
        return {
            **os.environ,
            **compiled,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.root if own else REPOSITORY),
            "DVC_SITE_CACHE_DIR": str(self.root / ".dvc" / "tmp" / "site"),
            "DVC_NO_ANALYTICS": "1",
            "OMP_NUM_THREADS": "1",
        }

    @property
    def run(self) -> Path:
        return self.root / "registry" / "runs" / "small"

    def outcomes(self, done: subprocess.CompletedProcess[str]) -> dict[str, str]:
        """Stage -> done, restored, FAILED ...; cached stages are not listed by a run."""
        words = {"done", "restored", "FAILED", "skipped"}
        lines = [line.split() for line in done.stderr.splitlines()]
        return {line[1]: line[0] for line in lines if len(line) >= 2 and line[0] in words}

    def plan(self, *arguments: str) -> dict[str, Any]:
        found = json.loads(self.mtlspec("plan", "small", "--json", *arguments).stdout)
        return {stage["stage"]: stage for stage in found["stages"]}

    def digests(self) -> dict[str, str]:
        """Every file of every artifact and record, by content."""
        from mtlspec.io.digest import digest_tree

        return {
            f"{folder}/{name}": digest
            for folder in ("artifacts", "records")
            for name, digest in digest_tree(self.run / folder).items()
        }


def _machine_code() -> Path:
    folder = Project(REPOSITORY).state / "numba"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
