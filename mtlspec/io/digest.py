"""Digests and canonical JSON: equal values give equal bytes, everywhere and always."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

_CHUNK = 1 << 20


def canonical_json(value: Any) -> str:
    """Sorted keys, no spaces, UTF-8, no NaN: the form that is digested."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def pretty_json(value: Any) -> str:
    """Canonical too, but with a line a value: the form that is kept in git and read by people."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_value(value: Any) -> str:
    """sha256 of a JSON value's canonical form."""
    return digest_bytes(canonical_json(value).encode())


def digest_file(path: Path) -> str:
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            sha.update(chunk)
    return sha.hexdigest()


def digest_tree(directory: Path) -> dict[str, str]:
    """Relative POSIX path -> sha256 of every file below `directory`, sorted by path."""
    files = sorted(p for p in directory.rglob("*") if p.is_file())
    return {p.relative_to(directory).as_posix(): digest_file(p) for p in files}
