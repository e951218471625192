"""Programs in a pseudo-terminal: they see what users have, and we see every byte that they write there."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

_CONTROL = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def in_terminal(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], columns: int = 80, typed: str = ""
) -> tuple[int, str]:
    """The exit code, and all that was written, control sequences and what was typed included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    fit = {name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**fit, "TERM": "xterm-256color"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    parts = []
    while part := _read(ours):
        parts.append(part)
    os.close(ours)
    return process.wait(), b"".join(parts).decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux tells the end so
        return b""


def lines(drawn: str) -> list[str]:
    """Every line as it was drawn, also those that were drawn over, without colours and empty ones."""
    plain = _CONTROL.sub("", drawn)
    return [line.rstrip() for line in re.split(r"[\r\n]+", plain) if line.strip()]
