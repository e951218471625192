"""A study of over a thousand stages, `specs/paper/sequence_tagging.yaml`, with all of it done: how long a plan takes
and a run that finds nothing to do, and their memory.

Nothing is trained. Every stage's artifact and record are stand-ins of a few bytes, recorded through the same recorder
and DVC as those of a run, so that a plan and a run see what they see after a real one. Seconds are of this machine; the
bare import of the spec language is timed beside them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.e2e.study import REPOSITORY, Study

SPEC = "sequence_tagging_paper"
EMPTY = ("scores", "facts", "inputs", "environment")


def make_study(root: Path) -> Study:
    """The spec with all cards that it names, in a project of its own."""
    study = Study.create(root)
    (root / "specs/small.yaml").unlink()
    shutil.copy(REPOSITORY / "specs/paper/sequence_tagging.yaml", root / f"specs/{SPEC}.yaml")
    for folder in ("data", "encoders"):
        shutil.copytree(REPOSITORY / "registry" / folder, root / "registry" / folder, dirs_exist_ok=True)
    return study


def record_all(root: Path) -> int:
    """Stand-ins for all stages; how many there are."""
    os.chdir(root)
    from mtlspec.execute.materialise import materialise
    from mtlspec.execute.recorder import Recorder
    from mtlspec.io.manifest import read_manifest, write_manifest
    from mtlspec.io.project import Project
    from mtlspec.io.write import write_json

    project = Project(root)
    planned = materialise(project, root / f"specs/{SPEC}.yaml", ())
    planned.write()
    places, stages = planned.places, planned.plan.stages
    recorder = Recorder(project, places, [stage.name for stage in stages], print)
    for stage in stages:
        recorder.begin(stage.name)
        artifact = places.artifact(stage.name)
        artifact.mkdir(parents=True)
        for name in ("model.safetensors", "training.json") if stage.kind == "train" else ("scores.json",):
            write_json(artifact / name, {"stage": stage.name})
        write_manifest(artifact)
        record = {"stage": stage.name, "kind": stage.kind, "artifact": read_manifest(artifact)}
        record |= {key: {} for key in EMPTY}
        write_json(places.stage_record(stage.name), record)
        recorder.record(stage.name)
    recorder.close()
    return len(stages)


def timed(study: Study, *command: str) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and largest memory in MB of a command and what it starts."""
    script = (
        "import json, resource, subprocess, sys, time; started = time.perf_counter();"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(json.dumps([time.perf_counter() - started, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024,"
        " done.returncode, done.stderr[-400:]]))"
    )
    found = json.loads(study.tool(sys.executable, "-c", script, sys.executable, *command).stdout)
    if found[3]:
        print(f"{' '.join(command)} ended with {found[3]}: {found[4]}")
    return found[0], found[1], found[2]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        study = make_study(Path(folder) / "study")
        started = time.perf_counter()
        code = f"from bench.large_study import *; print(record_all(Path({str(study.root)!r})))"
        count = subprocess.run(
            [sys.executable, "-c", code],
            cwd=REPOSITORY,
            env=study.environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()[-1]
        print(f"{count} stages recorded in {time.perf_counter() - started:.0f} s")
        commands = {
            "import of the spec language": ("-c", "import mtlspec.spec.load"),
            "plan": ("-m", "mtlspec", "plan", SPEC),
            "run with nothing to do": ("-m", "mtlspec", "run", SPEC, "--no-publish"),
        }
        for name, command in commands.items():
            wall, cpu, memory = timed(study, *command)
            print(f"  {name:28} {wall:6.1f} s   {cpu:6.1f} CPU s   {memory:6.0f} MB at most")


if __name__ == "__main__":
    main()
