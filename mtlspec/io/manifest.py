"""Manifests: the sha256 of every file of an artifact, written last and verified before use.

Neither safetensors nor Arrow notices a flipped bit, so nothing is loaded from an artifact whose manifest does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from mtlspec.errors import IntegrityError
from mtlspec.io.digest import digest_tree, digest_value
from mtlspec.io.write import write_json

MANIFEST = "manifest.json"


def write_manifest(directory: Path) -> str:
    """Seal a directory; returns the digest of its contents."""
    files = digest_tree(directory)
    files.pop(MANIFEST, None)
    write_json(directory / MANIFEST, {"files": files})
    return digest_value(files)


def read_manifest(directory: Path) -> dict[str, str]:
    """What the directory should hold, unverified."""
    path = directory / MANIFEST
    try:
        files = json.loads(path.read_bytes())["files"]
    except FileNotFoundError:
        raise IntegrityError(
            "E501", "the artifact has no manifest: it was not finished", directory, "delete it and run again"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise IntegrityError(
            "E502", "the manifest is not readable", path, "delete the artifact and run again"
        ) from None
    return dict(files)


def verify_manifest(directory: Path, freed: Collection[str] = ()) -> str:
    """Re-hash every byte; returns the digest of the contents or names the first file that differs.

    Files that may have been `freed` count as what was recorded of them where they are missing.
    """
    recorded = read_manifest(directory)
    actual = digest_tree(directory)
    actual.pop(MANIFEST, None)
    for name in sorted(recorded.keys() | actual.keys()):
        if name not in actual:
            if name in freed:
                continue
            raise IntegrityError("E503", "a file of the artifact is missing", directory / name)
        if name not in recorded:
            raise IntegrityError("E504", "a file does not belong to the artifact", directory / name)
        if actual[name] != recorded[name]:
            raise IntegrityError(
                "E505", f"the file changed: recorded sha256 {recorded[name]}, found {actual[name]}", directory / name
            )
    return digest_value(recorded)
