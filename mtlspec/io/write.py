"""Atomic writes: a reader sees the old content or the new, never a half. No other code opens a file for writing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mtlspec.io.digest import pretty_json
from mtlspec.io.disk import naming

_LEFTOVERS = (".tmp", ".old")


def write_bytes(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write through a temporary file in the same folder, flush to disk, rename; nobody but us reads it before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(mode)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def leftovers(folder: Path) -> list[Path]:
    """What a killed process left half-written directly below `folder`, whether it was ours or DVC's."""
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path for path in found if path.name.startswith(".") and path.name.endswith(_LEFTOVERS)]


def write_text(path: Path, text: str) -> None:
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any, mode: int = 0o644) -> None:
    """Keys sorted, one value a line; the same value gives the same bytes."""
    write_bytes(path, pretty_json(value).encode(), mode)


def write_text_if_changed(path: Path, text: str) -> bool:
    """Leave an equal file (and its time stamp) alone; say whether it was written."""
    if path.is_file() and path.read_bytes() == text.encode():
        return False
    write_text(path, text)
    return True


def redirect_output(log: Path) -> None:
    """Send this process's standard output and error to a file, and close its standard input."""
    log.parent.mkdir(parents=True, exist_ok=True)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)


@contextmanager
def staged_directory(target: Path) -> Iterator[Path]:
    """Fill a temporary sibling, then rename it to `target` (which is replaced); on an error nothing is left."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp"))
    temporary.chmod(0o755)
    try:
        yield temporary
        if target.exists():
            retired = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".old"))
            target.rename(retired / "x")
            temporary.rename(target)
            shutil.rmtree(retired)
        else:
            temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
