"""Why a stage failed, from what it printed and how it ended."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mtlspec.errors import MtlspecError, Place, Problems, StageError
from mtlspec.io.disk import has_room

_ERROR = re.compile(r"(?:(.+?)(?::(\d+))?(?::(\d+))?: )?error (E\d{3}): (.+)")


def failure(name: str, reply: dict[str, Any], log: Path | None = None) -> MtlspecError:
    """The stage's own last line, if it said something, or all its errors if it found several; else how it ended."""
    lines = [line for line in reply["tail"].splitlines() if line.strip()]
    status = reply["status"]
    ended = f"was ended by signal {-status}" if status < 0 else f"failed with exit code {status}"
    hint = f"all it printed is in {log}" if log else None
    own = _errors(lines)
    if len(own) > 1:
        return Problems([StageError("E410", f"stage '{name}' {ended} and {len(own)} messages", None, hint), *own])
    if not lines and log is not None and not has_room(log.parent):
        message = f"stage '{name}' {ended}, and the disk is too full for it to say why"
        return StageError("E421", message, log.parent, "make room, then run again: finished stages are kept")
    said = f": {lines[-1].strip()}" if lines else ""
    return StageError("E410", f"stage '{name}' {ended}{said}", None, hint)


def _errors(lines: list[str]) -> list[StageError]:
    """The errors of ours that a stage ended with."""
    found: list[StageError] = []
    for line in reversed(lines):
        match = _ERROR.fullmatch(line)
        if match is None:
            break
        place = Place(match[1], int(match[2] or 0), int(match[3] or 0)) if match[1] else None
        found.append(StageError(match[4], match[5], place))
    return found[::-1]
