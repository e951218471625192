"""Where the resume points of a training lie. Light at import: whoever tells how to go on needs no torch."""

from __future__ import annotations

import re
from pathlib import Path

RESUMED = "updates, resumed"
"""What a training reports once, with the update it starts from, if it goes on where another process stopped."""


def point_name(update: int) -> str:
    return f"update-{update:09d}"


def points(folder: Path) -> list[Path]:
    """Newest first."""
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted((path for path in found if re.fullmatch(r"update-\d{9}", path.name)), reverse=True)


def newest_update(folder: Path) -> int | None:
    """The update that the newest point was made after."""
    return next((int(path.name.removeprefix("update-")) for path in points(folder)), None)
