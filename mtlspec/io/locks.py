"""File locks that a killed process cannot leave behind."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mtlspec.errors import SetupError
from mtlspec.io.disk import naming


@contextmanager
def exclusive(path: Path, doing: str) -> Iterator[None]:
    """Hold `path` as a lock; the kernel lets go of it however the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 32, 0).decode(errors="replace").strip() or "unknown"
            raise SetupError(
                "E603", f"another process is {doing}", path, f"wait for process {holder} or stop it"
            ) from None
        with naming(path):
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


@contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Hold `path` as a lock, after waiting for those who hold it; where it cannot be made, nobody waits for anybody."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        yield
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
