"""DVC's run cache, read without trust: a kill leaves empty folders and halves in it, over which DVC stumbles for good.

An entry lies in `runs/<2 digits>/<key>/<value>`, where `key` is the digest of what a stage depends on and `value` that
of what the entry says. So a half can be told from a whole.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

_VALUE = re.compile(r"[0-9a-f]{64}")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where there is one


def newest_entry(folder: Path) -> dict[str, Any] | None:
    """What the run cache has for one key; removes what is damaged, since DVC would read it when it saves, too.

    Other names are files that some process may just be writing: they are no entries yet.
    """
    if not folder.is_dir():
        return None
    newest = None
    paths = [path for path in folder.iterdir() if _VALUE.fullmatch(path.name)]
    for path in sorted(paths, key=lambda path: path.stat().st_mtime_ns):
        entry = _read(path)
        newest = entry or newest
        if entry is None:
            path.unlink(missing_ok=True)
    return newest


def _read(path: Path) -> dict[str, Any] | None:
    """An entry, or None if it does not say what it was named after."""
    from dvc.stage.cache import _get_cache_hash

    try:
        entry = yaml.load(path.read_bytes(), Loader=_LOADER)  # noqa: S506  # a safe loader
        whole = bool(entry["outs"]) and _get_cache_hash(entry) == path.name
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError):
        return None
    return dict(entry) if whole else None


def tidy(cache: Path) -> None:
    """Remove what killed processes left in a cache; the caller holds DVC's lock, so nobody is writing there.

    The empty folder of an entry that was never written is enough to stop plain `dvc repro`.
    """
    objects = cache / "files" / "md5"
    for folder in (objects, *_folders(objects)):
        for path in [path for path in folder.glob("*.tmp") if path.is_file()]:
            path.unlink()
    for group in _folders(cache / "runs"):
        for entry in _folders(group):
            found = list(entry.iterdir())
            whole = [path for path in found if _VALUE.fullmatch(path.name)]
            for path in set(found) - set(whole):
                path.unlink()
            if not whole:
                entry.rmdir()


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
