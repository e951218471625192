"""How messages speak of values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_LONGEST = 60


def shorten(text: str) -> str:
    """A text that fits in a message."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def show(value: Any) -> str:
    """What was found: `the text 'abc'`, `1.5`, `a list`."""
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the text '{shorten(value)}'" if value else "an empty text"
    sort = "mapping" if isinstance(value, dict) else "list"
    return f"a {sort}" if value else f"an empty {sort}"


def either(words: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
