"""What differs between two states of something, as a reader of specs would say it: one phrase each, never a dump."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_SCALAR = (str, int, float, bool)
_LONG = 40  # characters of a value that a phrase can bear


def changed_paths(old: Any, new: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two trees of mappings differ: path, old value, new value. Another kind is one difference, not many."""
    if isinstance(old, Mapping) and isinstance(new, Mapping) and (not prefix or old.get("type") == new.get("type")):
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                yield from changed_paths(old.get(key), new.get(key), f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, old, new


def changed(what: str, old: Any, new: Any) -> str:
    """`option train.epochs: 3 → 7`, or that it changed where the values are nothing to read; None is `not there`."""
    before, after = _short(old), _short(new)
    if old is None and (after is None or not isinstance(new, _SCALAR)):
        return f"{what} added"
    if new is None and (before is None or not isinstance(old, _SCALAR)):
        return f"{what} removed"
    told = before is not None and after is not None and before != after
    return f"{what}: {before} → {after}" if told else f"{what} changed"


def changed_file(path: str, old: object, new: object) -> str:
    return f"{path} {'is new' if old is None else 'is gone' if new is None else 'changed'}"


def first_of(names: Sequence[str]) -> str:
    """`a (and 3 more)`"""
    return names[0] + (f" (and {len(names) - 1} more)" if len(names) > 1 else "")


def _short(value: Any) -> str | None:
    """A value that can be read in a phrase; None if it cannot."""
    if isinstance(value, Mapping):
        return value.get("type")
    if isinstance(value, list) and all(isinstance(item, _SCALAR) for item in value):
        text = ", ".join(map(str, value)) or "none"
    elif value is None or isinstance(value, _SCALAR):
        text = "none" if value is None else value if isinstance(value, str) else json.dumps(value)
    else:
        return None
    return text if 0 < len(text) <= _LONG else None
