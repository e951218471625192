"""DVC's lock files: read without trust, since an interrupted command leaves halves, and written whole."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from mtlspec.io.write import write_text

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where there is one


def lock_of(pipeline: Path) -> Path:
    return pipeline.with_suffix(".lock")


def read_lock(path: Path) -> dict[str, Any] | None:
    """Stage -> what DVC saw of it; empty if there is no such file, None if it is not what DVC writes."""
    if not path.is_file():
        return {}
    try:
        content = yaml.load(path.read_bytes(), Loader=_LOADER)  # noqa: S506  # a safe loader
        stages: dict[str, Any] = content["stages"]
        whole = content["schema"] == "2.0" and all(_is_entry(entry) for entry in stages.values())
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError):
        return None
    return stages if whole else None


def read_entry(path: Path) -> dict[str, Any] | None:
    """What one run left, as the run cache has it; None if it is not what DVC writes."""
    try:
        entry: dict[str, Any] = yaml.load(path.read_bytes(), Loader=_LOADER)  # noqa: S506  # a safe loader
        return entry if _is_entry(entry) else None
    except (OSError, yaml.YAMLError, UnicodeDecodeError, AttributeError, KeyError, TypeError):
        return None


def write_lock(path: Path, stages: dict[str, Any]) -> None:
    """As DVC writes it, but at once: a lock of hundreds of stages takes DVC seconds, and a kill would leave a part."""
    from dvc.utils.serialize import dumps_yaml

    write_text(path, dumps_yaml({"schema": "2.0", "stages": stages}))


def keep_only(path: Path, names: Collection[str]) -> None:
    """Drop stages that are gone from a lock."""
    stages = read_lock(path) or {}
    if not stages.keys() <= set(names):
        write_lock(path, {name: entry for name, entry in stages.items() if name in names})


def _is_entry(entry: dict[str, Any]) -> bool:
    files = [*entry.get("deps", ()), *entry["outs"]]
    return isinstance(entry["cmd"], str) and all(isinstance(file["path"], str) and file["md5"] for file in files)
