"""A disk that takes no more: how to tell, and how to say which file it was."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the last one: `ulimit -f`


def is_full(error: BaseException) -> bool:
    """Whether nothing more can be written; libraries wrap the system's word for it in errors of their own."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return True
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
        return True
    if any(os.strerror(number) in str(error) for number in _FULL):
        return True
    behind = error.__cause__ or error.__context__
    return behind is not None and is_full(behind)


def named_file(error: BaseException, otherwise: Path) -> Path:
    """The file that an error is about, as far as it says."""
    name = error.filename if isinstance(error, OSError) else None
    return Path(name) if isinstance(name, str) else otherwise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of the system name `path`: a failed write has no name of its own, and a temporary one helps nobody."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)
        raise
