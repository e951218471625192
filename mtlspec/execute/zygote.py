"""A fork server with the slow imports done: a stage starts in milliseconds instead of ten seconds.

It imports what stages need when the first one needs it (see `warmth`), and it computes nothing, because a fork after a
matrix product can hang. Every stage runs in a fork of its own and cannot leave traces for the next one.

The driver and the zygote speak JSON lines over a socket pair: {"job", "kind", "code", "argv", "log"} there,
{"job", "status", "tail"} back.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtlspec.errors import MtlspecError
from mtlspec.execute.lifeline import die_with_parent
from mtlspec.execute.warmth import require_planned_sources, warm
from mtlspec.io.write import redirect_output
from mtlspec.track.instructions import stay_with_common_instructions

COMPILATION = "(compilation)"  # not a name that a stage can have


@dataclass
class Zygote:
    """The driver's end."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    _buffer: bytearray = field(default_factory=bytearray)

    @classmethod
    def start(cls, root: Path) -> Zygote:
        """Spawn the server; it warms up while the driver goes on, and takes jobs at once."""
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "mtlspec.execute.zygote", str(theirs.fileno()), str(os.getpid())]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        stay_with_common_instructions(environment)
        process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], cwd=root, env=environment, start_new_session=True
        )
        theirs.close()
        return cls(process, ours)

    def submit(self, job: str, kind: str, argv: list[str], log: Path, code: Path | None = None) -> None:
        """Start a stage; `argv` as `run_job` takes it, its output goes to `log`; `code` is its code fingerprint."""
        request = {"job": job, "kind": kind, "code": str(code) if code else None, "argv": argv, "log": str(log)}
        self.channel.sendall(json.dumps(request).encode() + b"\n")

    def compile(self, sources: list[str], log: Path) -> None:
        """Fill the cache of machine code for these sources; nobody waits for it, and its reply may be ignored."""
        request = {"job": COMPILATION, "kind": "train", "code": None, "argv": sources, "log": str(log)}
        self.channel.sendall(json.dumps(request).encode() + b"\n")

    def call(self, job: str, kind: str, argv: list[str], log: Path, code: Path | None = None) -> dict[str, Any]:
        """Start a stage and wait for its reply; only when nothing else runs."""
        self.submit(job, kind, argv, log, code)
        while True:
            for reply in self.replies():
                return reply

    def replies(self) -> Iterator[dict[str, Any]]:
        """Everything that arrived; call when the channel is readable. Raises EOFError when the server died."""
        data = self.channel.recv(1 << 16)
        if not data:
            raise EOFError("the worker server ended")
        self._buffer += data
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            yield json.loads(line)

    def stop(self) -> None:
        """End the server and every stage it runs."""
        self.channel.close()
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _serve(channel: socket.socket) -> None:
    """Fork a child for each request, reap, reply; end when the driver hangs up."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, tuple[str, Path]] = {}
    buffer = bytearray()
    selector = selectors.DefaultSelector()
    selector.register(channel, selectors.EVENT_READ)
    selector.register(wake_read, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is channel:
                data = channel.recv(1 << 16)
                if not data:
                    return
                buffer += data
                *lines, rest = bytes(buffer).split(b"\n")
                buffer = bytearray(rest)
                for line in lines:
                    request = json.loads(line)
                    log = Path(request["log"])
                    warm(request["kind"], Path(request["code"]) if request["code"] else None)
                    server = os.getpid()
                    pid = os.fork()
                    if pid == 0:
                        _child(server, channel, request["job"], request["argv"], log)
                    running[pid] = (request["job"], log)
            else:
                os.read(wake_read, 1 << 12)
        _reap(channel, running)


def _reap(channel: socket.socket, running: dict[int, tuple[str, Path]]) -> None:
    while running:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        job, log = running.pop(pid)
        tail = log.read_bytes()[-16_000:].decode(errors="replace") if log.is_file() else ""
        reply = {"job": job, "status": os.waitstatus_to_exitcode(status), "tail": tail}
        channel.sendall(json.dumps(reply).encode() + b"\n")


def _child(server: int, channel: socket.socket, job: str, argv: list[str], log: Path) -> None:
    """In the fork: output to the log, then run the stage as the command line would, and leave without clean-up."""
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        die_with_parent(server)
        channel.close()
        redirect_output(log)
        code = _work(job, argv)
    except MtlspecError as error:
        sys.stderr.write(f"{error}\n")
        code = error.exit_code
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # on a full disk nothing can be said, but a fork must never go on as the server
                stream.flush()
        os._exit(code)


def _work(job: str, argv: list[str]) -> int:
    require_planned_sources()
    if job == COMPILATION:
        from mtlspec.structs.exercise import exercise

        exercise(argv)
        return 0
    from mtlspec.execute.job import run_job

    return run_job(argv)


if __name__ == "__main__":
    handle, driver = int(sys.argv[1]), int(sys.argv[2])
    die_with_parent(driver)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(ConnectionError):  # a driver that hangs up with a reply unread
        _serve(socket.socket(fileno=handle))
    os.killpg(0, signal.SIGKILL)  # and with it every stage that still runs
