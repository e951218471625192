"""Twelve training stages: `mtlspec run` on warm workers against plain `dvc repro`, cold, one after another.

Both run the same commands on the same small project; the ratio of wall times is what counts. Afterwards every
artifact and record is compared: the fast path must give the same bytes.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.e2e.study import SPEC, Study


def _twelve_trainings() -> str:
    return SPEC.replace("seeds: [1]", "seeds: [1, 2, 3, 4]")


def _timed(study: Study, *command: str) -> float:
    started = time.perf_counter()
    study.tool(*command)
    return time.perf_counter() - started


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        studies = {name: Study.create(Path(folder) / name, _twelve_trainings()) for name in ("warm", "cold")}
        for study in studies.values():
            study.mtlspec("plan", "small", "--write")
            for stage in ("data-mini", "pretrain-micro", "prepare-mini-micro"):
                study.tool("dvc", "repro", f"registry/runs/small/dvc.yaml:{stage}")
        cold = _timed(studies["cold"], "dvc", "repro")
        warm = _timed(studies["warm"], "mtlspec", "run", "small", "--no-publish")
        same = studies["cold"].digests() == studies["warm"].digests()
    print(
        f"12 trainings, 12 evaluations, report: dvc repro {cold:.1f} s, mtlspec run {warm:.1f} s, "
        f"ratio {cold / warm:.1f}x"
    )
    print(f"same bytes in every artifact and record: {'yes' if same else 'NO'}")
