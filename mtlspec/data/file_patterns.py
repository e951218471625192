"""Which of a corpus's files a card means, told from their names alone: the corpus need not be there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from mtlspec.spec.cards import is_pattern


def split_files(groups: Iterable[Mapping[str, Any]], split: str, names: Iterable[str]) -> list[str]:
    """Those of `names` that groups of files (as a stored card has them) name as files of a split, sorted."""
    named = [group["paths"].get(split, ()) for group in groups]
    entries = [entry for one in named for entry in ([one] if isinstance(one, str) else one)]
    return sorted(name for name in names if any(stands_for(entry, name) for entry in entries))


def stands_for(entry: str, name: str) -> bool:
    """Whether what a card names (a file, a folder, a pattern) stands for a file."""
    if not is_pattern(entry):
        plain = str(PurePosixPath(entry))
        return name == plain or name.startswith(plain + "/")
    parts = re.split(r"(\*\*/|\*|\?|\[[^]]+\])", entry.rstrip("/"))
    return re.fullmatch("".join(map(_expression, parts)), name) is not None


def _expression(part: str) -> str:
    """A part of a pattern of paths as a regular expression."""
    if part.startswith("["):
        return part.replace("[!", "[^", 1)
    return {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
