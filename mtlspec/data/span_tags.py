"""Tags that spell spans, one by one; `mtlspec.metrics.schemes` says what a row of them spells."""

from __future__ import annotations

from collections.abc import Iterable

OUTSIDE = "O"
BARE_TYPE = "_"  # the type of a bare `B` or `I`
_PREFIXES = "BIES"


def split_tag(tag: str) -> tuple[str, str] | None:
    """(prefix, type) of a tag that spells a part of a span: `B-PER` or a bare `B`; None for any other tag."""
    if tag[:1] and tag[0] in _PREFIXES:
        if len(tag) == 1:
            return tag, BARE_TYPE
        if tag[1] == "-" and len(tag) > 2:
            return tag[0], tag[2:]
    return None


def strange_tags(tags: Iterable[str]) -> list[str]:
    """Those of an inventory that spell no part of a span, sorted; a bare letter does only where no tag has a type."""
    inventory = sorted(set(tags) - {OUTSIDE})
    parts = {tag: split_tag(tag) for tag in inventory}
    typed = any(part is not None and len(tag) > 1 for tag, part in parts.items())
    return [tag for tag, part in parts.items() if part is None or (typed and len(tag) == 1)]
