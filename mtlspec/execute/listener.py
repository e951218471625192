"""Where workers send their progress: a socket with a name, so that stages started cold can find it too."""

from __future__ import annotations

import errno
import json
import os
import socket
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_LONGEST = 100  # the kernel's limit for names of sockets is 108 bytes


@dataclass
class Listener:
    channel: socket.socket
    path: Path

    @classmethod
    def open(cls, folder: Path) -> Listener:
        """A socket in `folder`, which is rid of those that killed runs left there."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{os.getpid()}.sock"
        if len(os.fsencode(path)) > _LONGEST:
            path = Path(tempfile.gettempdir()) / f"mtlspec-{os.getpid()}.sock"
        _remove_dead([*folder.glob("*.sock"), *Path(tempfile.gettempdir()).glob("mtlspec-*.sock")])
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        channel.bind(str(path))
        channel.setblocking(False)
        return cls(channel, path)

    @property
    def address(self) -> str:
        return str(self.path)

    def messages(self) -> list[dict[str, Any]]:
        messages = []
        with suppress(BlockingIOError):
            while True:
                messages.append(json.loads(self.channel.recv(1 << 16)))
        return messages

    def close(self) -> None:
        self.channel.close()
        self.path.unlink(missing_ok=True)


def _remove_dead(paths: list[Path]) -> None:
    """Remove sockets that nobody listens to; those of other users are theirs."""
    for path in paths:
        with suppress(OSError):
            if path.is_socket() and not _is_heard(path):
                path.unlink()


def _is_heard(path: Path) -> bool:
    """The kernel knows whether a process has the socket open; only its refusal says that none has."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(str(path))
        except OSError as error:
            return error.errno != errno.ECONNREFUSED
    return True
