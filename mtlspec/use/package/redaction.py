"""Nothing of the machine: paths of it that a record, a card or a page may hold are not shown to others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

HIDDEN = "(a path of the author)"
_PLACES = ("root", "path", "file")  # options that name a place; others may begin with a slash and name none


def machine_paths(record: Mapping[str, Any], root: Path) -> tuple[str, ...]:
    """The project's folder, the home folder, and absolute paths of cards and spec; the longest first."""
    told = {str(root), str(root.resolve()), str(Path.home())}
    told |= set(_absolute([record["data"]["cards"], record["encoder"]["card"], record["spec"]]))
    return tuple(sorted((path for path in told if len(path) > 1), key=lambda path: (-len(path), path)))


def without_paths(files: Mapping[str, bytes], paths: Sequence[str]) -> tuple[dict[str, bytes], list[str]]:
    """Files without these paths, and the names of those that had one; what is no text stays as it is."""
    inside = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, paths)) + r")(?![\w.-])")
    cleaned, changed = {}, []
    for name, data in files.items():
        try:
            text, number = inside.subn(HIDDEN, data.decode())
        except UnicodeDecodeError:
            text, number = "", 0
        cleaned[name] = text.encode() if number else data
        changed += [name] if number else []
    return cleaned, changed


def _absolute(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _absolute(inner, str(name))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _absolute(inner, key)
    elif isinstance(value, str) and (key in _PLACES or value.count("/") > 1) and _is_absolute(value):
        yield value


def _is_absolute(path: str) -> bool:
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
