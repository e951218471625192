"""Names made of what was set, for people and file systems: small letters, digits, `_` and `-`."""

from __future__ import annotations

import re
from typing import Any

from mtlspec.io.digest import canonical_json, digest_value

MAX_NAME = 80
DIGEST = 8


def setting_slug(key: str, value: Any) -> str:
    """`train.lr.encoder`, 5e-05 -> `lr_encoder_5e-05`: without `train` or `sharing`, which say little."""
    parts = key.split(".")
    return f"{_slug('_'.join(parts[1:] or parts))}_{'none' if value in ({}, [], None) else _slug(value)}"


def cut(name: str) -> str:
    """A long name keeps its beginning and gets a digest of the whole."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - DIGEST - 1]}-{digest_value(name)[:DIGEST]}"


def _slug(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_json(value)
    return re.sub(r"[^a-z0-9_-]+", "_", text.lower()).strip("_") or "_"
