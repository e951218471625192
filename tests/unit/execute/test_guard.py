"""What goes wrong inside DVC is one line with a number."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest
from dvc.config import ConfigError
from dvc.lock import LockError
from dvc.rwlock import RWLockFileFormatError

from mtlspec.errors import SetupError, StageError
from mtlspec.execute.guard import guarded

ROOT = Path("/project")


def _full() -> Exception:
    """As DVC edits its list of locks: it trips over the half that a full disk left."""
    try:
        try:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            raise ValueError("half a file")  # noqa: B904  # what is behind it is what matters
    except ValueError as error:
        return error


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/project/x"), "E634", "/project/x: "),
        (_full(), "E634", "the disk is full"),
        (sqlite3.OperationalError("database or disk is full"), "E634", "the disk is full"),
        (PermissionError(errno.EACCES, "Permission denied", "/project/y"), "E635", "/project/y: "),
        (sqlite3.DatabaseError("database disk image is malformed"), "E636", "delete .dvc/tmp"),
        (ConfigError("configuration error"), "E637", "configuration error"),
        (RWLockFileFormatError("/project/.dvc/tmp/rwlock"), "E637", "rwlock"),
        (KeyError("outs"), "E638", "KeyError: 'outs'"),
        (TypeError("join() argument\nmust be str"), "E638", "TypeError: join() argument must be str"),
    ],
)
def test_every_error_is_one_line_and_says_what_was_being_done(error: Exception, code: str, words: str) -> None:
    with pytest.raises(SetupError) as caught, guarded("recording stage 'x'", ROOT):
        raise error
    line = str(caught.value)
    assert caught.value.code == code
    assert words in line and "while recording stage 'x'" in line and "\n" not in line
    assert caught.value.__cause__ is error, "--debug shows it"


@pytest.mark.parametrize("error", [StageError("E407", "changed"), LockError("busy"), KeyboardInterrupt()], ids=repr)
def test_what_is_said_already_and_what_others_wait_for_passes(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, guarded("recording", ROOT):
        raise error
    assert caught.value is error
