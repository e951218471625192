"""A small recording in a process that dies at a chosen change of the disk: killed before it, or after some bytes of it.

What is recorded is real (a plan, two corpora, DVC's cache, its run cache and its lock); only training is left out,
which takes long and changes nothing about recording.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mtlspec.cli.app import refused
from mtlspec.errors import MtlspecError
from mtlspec.execute.alone import run_alone
from mtlspec.execute.leftovers import repair_metadata
from mtlspec.execute.materialise import materialise, plan_again
from mtlspec.execute.recorder import Recorder
from mtlspec.execute.runner import run_stage
from mtlspec.execute.scheduler import Outcome, Scheduler
from mtlspec.io.digest import digest_tree
from mtlspec.io.project import Project
from mtlspec.io.write import leftovers
from mtlspec.plan.dvc import PLAN_STAGE

_CARD = """\
card: data
name: {name}
licence: CC0-1.0
source: made by a grammar
generator: {{type: english_mini, seed: {seed}, train: 2, dev: 1, test: 1}}
files:
- reader: {{type: conllu}}
  paths: {{train: train.conllu, dev: dev.conllu, test: test.conllu}}
  layers: {{xpos: xpos}}
"""
_ENCODER = """\
card: encoder
name: micro
licence: Apache-2.0
source: {type: pretrain, layers: 1, heads: 2, width: 16, feed_forward: 32, epochs: 1}
"""
_SPEC = """\
mtlspec: 1
name: small
data: {one: one, two: two}
encoder: {card: micro, data: one}
tasks:
  pos: {type: tagging, data: one, layer: xpos}
  tags: {type: tagging, data: two, layer: xpos}
train: {epochs: 1, batch: {sentences: 16, tokens: 1600}}
seeds: [1]
models:
  mtl: {tasks: all, sharing: hard}
analyses:
  scores: {type: score_matrix, models: [mtl]}
"""
_CONFIG = "[core]\n    no_scm = true\n    analytics = false\n[cache]\n    type = copy\n"
_CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def create(root: Path) -> None:
    files = {
        "registry/data/one.yaml": _CARD.format(name="one", seed=1),
        "registry/data/two.yaml": _CARD.format(name="two", seed=2),
        "registry/encoders/micro.yaml": _ENCODER,
        "specs/small.yaml": _SPEC,
        ".dvc/config": _CONFIG,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


class _Watcher:
    """Tells nobody."""

    def started(self, stage: str) -> None: ...
    def progressed(self, stage: str, done: int, total: int, what: str) -> None: ...
    def finished(self, stage: str, outcome: Outcome) -> None: ...
    def waiting(self, what: str) -> None: ...
    def told(self, line: str) -> None: ...

    def busy(self, stage: str, what: str) -> AbstractContextManager[None]:
        return nullcontext()


def record(root: Path) -> dict[str, Outcome]:
    """What `mtlspec run` does, with its stages in this process and without those that train."""
    os.chdir(root)
    project = Project(root)
    planned = materialise(project, root / "specs" / "small.yaml")
    with run_alone(project, planned.plan.spec):
        repair_metadata(project, planned.places)
        planned.write()
        names = [stage.name for stage in planned.plan.stages if stage.kind == "data"]
        order = [PLAN_STAGE, *(stage.name for stage in planned.plan.stages)]
        scheduler = Scheduler(planned, 1, _Watcher())
        recorder = Recorder(project, planned.places, order, _refuse_to_wait)
        try:
            scheduler._in_process(recorder, PLAN_STAGE, lambda: plan_again(project, planned.places))
            for name in names:
                scheduler._in_process(recorder, name, lambda name=name: run_stage(project, planned.places, name))
                recorder.flush()
        finally:
            recorder.close()
    return scheduler.outcomes


def _refuse_to_wait(what: str) -> None:
    raise AssertionError(f"the run waits for {what}, but nobody else is here")


@dataclass(frozen=True)
class Death:
    """Before the n-th change, or (`size` given) as soon as any file is to have more bytes, from the n-th change on.

    Only changes of paths that have `where` in them are counted.
    """

    change: int
    size: int | None = None
    where: str = ""
    full: bool = False  # nobody dies: writing more fails, as on a full disk


def die_at(death: Death) -> None:
    """From now on this process counts the changes that it makes to the disk."""
    seen = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        if event not in _CHANGES and not (event == "open" and arguments[2] & _WRITING):
            return
        seen += death.where in str(arguments[0])
        if seen == death.change:
            if death.size is None:
                os.kill(os.getpid(), signal.SIGKILL)
            else:
                _limit(death.size, death.full)

    sys.addaudithook(watch)


def _limit(size: int, survive: bool) -> None:
    """Let the kernel end this process, or a write of it, where a file grows beyond `size`: what fits is written."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN if survive else signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def child(root: Path, death: Death | None, said: Connection) -> None:
    """In a process of its own; tells what the command line would say, through a pipe that is never full."""
    if death is not None:
        die_at(death)
    try:
        record(root)
    except Exception as error:
        told = error if isinstance(error, MtlspecError) else refused(error)
        said.send(str(told) if told else traceback.format_exc())
        sys.exit(1)


def run(server: Any, root: Path, death: Death | None = None) -> tuple[int, str]:
    """Exit code (negative: the signal) and what was said."""
    receiver, sender = server.Pipe(duplex=False)
    process = server.Process(target=child, args=(root, death, sender))
    process.start()
    sender.close()
    with suppress(EOFError):
        return 1, receiver.recv()
    process.join()
    return process.exitcode, f"ended with {process.exitcode}"


def kept(root: Path) -> dict[str, str]:
    """Digests of all that a run leaves behind for good; timings and DVC's own scratch differ from run to run."""
    scratch = ("registry/runs/small/timings/", ".dvc/tmp/", ".mtlspec/")
    return {name: digest for name, digest in digest_tree(root).items() if not name.startswith(scratch)}


def an_hour_later(root: Path) -> None:
    """Where other runs write too, half-written files count as left behind only when they are old."""
    for path in leftovers(root):
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 3601))
