"""MLflow's own web server, as a child that ends with us however we end.

`python -m mtlspec.track.webserver COMMAND...` is the keeper between us and the server: it runs the command in a process
group of its own and ends the group when its standard input closes, which the kernel does for us even after a kill -9.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mtlspec.errors import SetupError
from mtlspec.io.project import Project
from mtlspec.io.secrets import without_secrets
from mtlspec.track import pages
from mtlspec.track.server import configure, local_uri, remake

_PATIENCE = 120.0  # seconds; a cold and busy machine takes most of a minute


@contextmanager
def serving(project: Project, host: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The server, from when it answers until the block ends."""
    check_free(host, port)
    configure()
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", local_uri(project)]
    command += ["--host", host, "--port", str(port), "--workers", "1", "--app-name", pages.NAME]
    keeper = [sys.executable, "-m", "mtlspec.track.webserver", *command]
    with tempfile.TemporaryFile() as log, tempfile.TemporaryDirectory() as plugin:
        pages.announce(Path(plugin))
        environment = {
            **os.environ,
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # a third of the memory
            "PYTHONPATH": os.pathsep.join(filter(None, [plugin, os.environ.get("PYTHONPATH")])),
        }
        server = subprocess.Popen(
            keeper,
            cwd=project.root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            _wait_until_ready(server, project, host, port, log)
            yield server
        finally:
            assert server.stdin is not None
            server.stdin.close()
            server.wait()


def check_free(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            raise SetupError("E625", f"port {port} is in use", None, f"try `--port {port + 1}`") from None


def _wait_until_ready(server: subprocess.Popen[bytes], project: Project, host: str, port: int, log: IO[bytes]) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SetupError("E626", "MLflow's server ended at once", None, f"{_last_line(log)}; {remake(project)}")
        if _answers(host, port):
            return
        time.sleep(0.2)
    raise SetupError("E627", f"MLflow's server did not answer within {_PATIENCE:.0f} s", None, _last_line(log))


def _answers(host: str, port: int) -> bool:
    """Whether pages are served; the port is open long before."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _last_line(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode(errors="replace").strip().splitlines()
    return without_secrets(lines[-1])[:300] if lines else "it said nothing"


def _stay(number: int, frame: object) -> None:
    """The keeper outlives the signal that it sends to its group, so that it can make sure of the end."""
    del number, frame


def keep(command: Sequence[str]) -> int:
    """Run the command until it ends, or end it and its children when standard input closes."""
    # A handler, not SIG_IGN: the server must not inherit that it is to ignore the signal.
    signal.signal(signal.SIGTERM, _stay)
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    def watch() -> None:
        while os.read(0, 1024):  # not through sys.stdin: Python cannot end while a thread holds it
            pass
        os.killpg(os.getpgrp(), signal.SIGTERM)
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    return server.wait()


if __name__ == "__main__":
    sys.exit(keep(sys.argv[1:]))
