"""Around every call into DVC: what goes wrong there becomes one clear line, and says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mtlspec.errors import MtlspecError, SetupError
from mtlspec.io.disk import is_full, named_file

_AGAIN = "make room, then run again: finished stages are kept"


@contextmanager
def guarded(doing: str, root: Path) -> Iterator[None]:
    """`doing` ends the sentence "DVC failed while ..."; `root` is the project's."""
    try:
        yield
    except Exception as error:
        if (told := _told(error, doing, root)) is None:
            raise
        raise told from error


def _told(error: Exception, doing: str, root: Path) -> MtlspecError | None:
    """The error in our words; None if it speaks for itself."""
    from dvc.exceptions import DvcException
    from dvc.lock import LockError

    if isinstance(error, (MtlspecError, LockError)):
        return None
    if is_full(error):
        return SetupError("E634", f"the disk is full, while {doing}", named_file(error, root / ".dvc"), _AGAIN)
    said = _words(error)
    if isinstance(error, OSError) and error.errno is not None:
        return SetupError("E635", f"the machine refuses: {said}, while {doing}", named_file(error, root / ".dvc"))
    if isinstance(error, sqlite3.Error):
        hint = "it is only a memory: delete .dvc/tmp and run again"
        return SetupError("E636", f"DVC's database is not usable: {said}, while {doing}", root / ".dvc" / "tmp", hint)
    if isinstance(error, DvcException):
        return SetupError("E637", f"DVC refuses: {said}, while {doing}", root / ".dvc", "`dvc doctor` may say more")
    hint = "run again; if it stays, delete .dvc/tmp and .dvc/cache/runs, which are only memories, and report it"
    return SetupError("E638", f"DVC failed: {type(error).__name__}: {said}, while {doing}", root / ".dvc", hint)


def _words(error: BaseException) -> str:
    """DVC says the reason in the error behind its own."""
    own = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    behind = error.__cause__
    return own if behind is None or str(behind) in own else f"{own.rstrip('.')} ({behind})"
