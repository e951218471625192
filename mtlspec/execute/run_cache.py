"""DVC's run cache, read without trust: a kill leaves empty folders and halves in it, over which DVC stumbles for good.

So does a folder in place of a file, or a file in place of a folder. An entry lies in `runs/<2 digits>/<key>/<value>`,
where `key` is the digest of what a stage depends on and `value` that of what the entry says. So a half can be told from
a whole.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import yaml

_VALUE = re.compile(r"[0-9a-f]{64}")
_OBJECT = re.compile(r"[0-9a-f]{30}(\.dir)?")  # a file, also where it lists a folder
_GROUP = re.compile(r"[0-9a-f]{2}|[0-9a-f]{64}")  # folders: of digests that begin alike, and of one key
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
            remove_any(path)
    return newest


def remove_any(path: Path) -> None:
    """A file or a folder with all that is in it; nothing that a link points to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any] | None:
    """An entry, or None if it does not say what it was named after."""
    from dvc.stage.cache import _get_cache_hash

    if not path.is_file():
        return None
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
        for path in _contents(folder):
            if path.is_dir() if _OBJECT.fullmatch(path.name) else path.suffix == ".tmp":
                remove_any(path)
    for group in _folders(cache / "runs"):
        for entry in _folders(group):
            found = _contents(entry)
            whole = [path for path in found if _VALUE.fullmatch(path.name) and path.is_file()]
            for path in set(found) - set(whole):
                remove_any(path)
            if not whole:
                entry.rmdir()


def _folders(folder: Path) -> list[Path]:
    """The folders in a folder of which nothing else is to be expected: what else bears such a name is removed."""
    found = _contents(folder)
    for path in found:
        if _GROUP.fullmatch(path.name) and not path.is_dir():
            path.unlink()
    return [path for path in found if path.is_dir()]


def _contents(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []
