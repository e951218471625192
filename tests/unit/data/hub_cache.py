"""A local cache of the hub with one data set in it, laid out as the hub's own library does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

REVISION = "0123456789abcdef0123456789abcdef01234567"


def fill_cache(cache: Path, name: str, files: Mapping[str, bytes]) -> None:
    """Blobs, and a snapshot of links to them."""
    home = cache / f"datasets--{name.replace('/', '--')}"
    snapshot = home / "snapshots" / REVISION
    (home / "blobs").mkdir(parents=True)
    for number, (path, content) in enumerate(files.items()):
        blob = home / "blobs" / str(number)
        blob.write_bytes(content)
        (snapshot / path).parent.mkdir(parents=True, exist_ok=True)
        (snapshot / path).symlink_to(blob)
