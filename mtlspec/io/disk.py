"""A disk that takes no more: how to tell, and how to say which file it was."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGE = 1 << 14
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the last one: `ulimit -f`
_WORDS = (*map(os.strerror, _FULL), "database or disk is full")  # the last one: SQLite


def is_full(error: BaseException) -> bool:
    """Whether nothing more can be written."""
    return _said_by(error) is not None


def has_room(folder: Path) -> bool:
    """Whether the disk below `folder` could take a page of text."""
    try:
        about = os.statvfs(folder)
    except OSError:  # nobody knows
        return True
    return about.f_bavail * about.f_frsize >= _PAGE


def named_file(error: BaseException, otherwise: Path) -> Path:
    """The file that an error, or the full disk behind it, is about; as far as it says."""
    system = _said_by(error) or error
    name = system.filename if isinstance(system, OSError) else None
    return Path(name) if isinstance(name, str) else otherwise


def _said_by(error: BaseException | None) -> BaseException | None:
    """The error of a full disk among those behind `error`: libraries wrap the system's word in errors of their own."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return error
        if any(words in str(error) for words in _WORDS):
            return error
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the system name `path`: a failed write has no name of its own, and a temporary one helps nobody."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)
        raise
