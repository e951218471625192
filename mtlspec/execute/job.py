"""What a worker does with a job, warm or cold: run one stage and turn any failure into one line and an exit code."""

from __future__ import annotations

import json
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

from mtlspec.errors import MtlspecError, StageError
from mtlspec.execute.interruption import from_update
from mtlspec.execute.runner import run_stage
from mtlspec.io.disk import is_full, named_file
from mtlspec.io.project import Project
from mtlspec.stages.context import Progress
from mtlspec.train.resuming import RESUMED

_INTERVAL = 0.2  # seconds between two progress messages


def run_job(argv: list[str]) -> int:
    """argv: spec folder, stage name, progress socket or "", project whose data are read or "". Errors go to stderr."""
    base, name, progress_socket, sources = argv
    project = Project.find(Path(base))
    places = project.run(Path(base).name)
    try:
        run_stage(project, places, name, _sender(name, progress_socket), Path(sources) if sources else None)
    except MtlspecError as error:
        return _say(error)
    except Exception as error:
        if not is_full(error):
            raise
        return _say(_full(error, places.artifact(name)))
    return 0


def _say(error: MtlspecError) -> int:
    with suppress(OSError):  # the log may lie on the disk that is full
        sys.stderr.write(f"{error}\n")
    return error.exit_code


def _full(error: Exception, artifact: Path) -> StageError:
    """Libraries that write tensors and tables do not name the file; what was written so far is removed by now."""
    hint = "make room, then run again: it goes on where it stopped"
    return StageError("E420", "the disk is full: this cannot be written", named_file(error, artifact), hint)


def _teller(stage: str) -> Progress:
    """For a stage that somebody runs by hand, or DVC: only where it goes on, if it was interrupted."""

    def tell(done: int, total: int, what: str) -> None:
        if what == RESUMED:
            sys.stderr.write(f"{stage} goes on from {from_update(done, total)}\n")

    return tell


def _sender(stage: str, address: str) -> Progress:
    """Progress as datagrams: a driver that is slow or gone never holds up a stage."""
    if not address:
        return _teller(stage)
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    channel.setblocking(False)
    last = 0.0

    def send(done: int, total: int, what: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _INTERVAL and done < total:
            return
        last = now
        message = json.dumps({"stage": stage, "done": done, "total": total, "what": what})
        try:
            channel.sendto(message.encode(), address)
        except OSError:
            return  # nobody listens

    return send
