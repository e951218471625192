"""Tagging schemes: how tags such as `B-PER` and `I-PER` spell spans.

    bio     (IOB2) B opens a span, I continues it
    iobes   as bio, and E ends a span of several words, S is a span of one
    plain   no spans: a tag is a tag

`iob1` (B only between two spans of one type) is understood as input and converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from mtlspec.data.span_tags import BARE_TYPE, OUTSIDE, split_tag

Scheme = Literal["plain", "bio", "iobes"]
Span = tuple[int, int, str]
"""(start, end exclusive, type)"""


def detect_scheme(tags: Iterable[str]) -> Scheme:
    """The scheme that a tag inventory is written in.

    Bare letters count only with a `B` among them, so that a plain inventory such as {S, O} stays plain.
    """
    inventory = set(tags) - {OUTSIDE}
    parts = [split_tag(tag) for tag in inventory]
    if not parts or any(part is None for part in parts):
        return "plain"
    bare = {tag for tag in inventory if len(tag) == 1}
    if bare and "B" not in bare:
        return "plain"
    prefixes = {part[0] for part in parts if part}
    return "iobes" if prefixes & {"E", "S"} else "bio"


def spans_of(tags: Sequence[str | None], scheme: Scheme) -> list[Span]:
    """The spans that tags spell, malformed sequences included; a word without a tag is outside (see `hidden_words`).

    A span opens at B, at S, after O, after a closed span, and where the type changes; it ends before the next one and
    before O.
    Under `plain` every tag but O is a span of one word.
    """
    if scheme == "plain":
        return [(i, i + 1, tag) for i, tag in enumerate(tags) if tag is not None and tag != OUTSIDE]
    spans: list[Span] = []
    start, kind = 0, ""  # an empty kind: no open span
    closed = True
    for i, tag in enumerate(tags):
        prefix, this = _part(tag)
        if kind and (prefix in "OBS" or closed or this != kind):
            spans.append((start, i, kind))
            kind = ""
        if prefix != OUTSIDE and not kind:
            start, kind = i, this
        closed = prefix in "ESO"
    if kind:
        spans.append((start, len(tags), kind))
    return spans


def hidden_words(tags: Sequence[str | None], scheme: Scheme) -> frozenset[int]:
    """Words about whose spans gold tags with gaps say nothing; spans that hold one do not count, on either side.

    They are the words without a tag, and those of a span that borders on one where the tags do not say that it begins
    (B, S) or ends (E, S) there: it may be longer than what is seen of it.
    """
    hidden = {i for i, tag in enumerate(tags) if tag is None}
    if not hidden or scheme == "plain":
        return frozenset(hidden)
    gaps = frozenset(hidden)
    for start, end, _ in spans_of(tags, scheme):
        begins = start - 1 not in gaps or _part(tags[start])[0] in "BS"
        ends = end not in gaps or _part(tags[end - 1])[0] in "ES"
        if not (begins and ends):
            hidden.update(range(start, end))
    return frozenset(hidden)


def tags_of(spans: Iterable[Span], length: int, scheme: Literal["bio", "iobes"]) -> list[str]:
    """Well-formed tags of spans that do not overlap."""
    tags = [OUTSIDE] * length
    for start, end, kind in spans:
        if not 0 <= start < end <= length or any(tag != OUTSIDE for tag in tags[start:end]):
            raise ValueError(f"span ({start}, {end}, {kind}) is empty, out of range or overlaps another one")
        suffix = "" if kind == BARE_TYPE else f"-{kind}"
        tags[start:end] = [f"I{suffix}"] * (end - start)
        tags[start] = f"B{suffix}"
        if scheme == "iobes":
            tags[end - 1] = f"E{suffix}" if end - start > 1 else f"S{suffix}"
    return tags


def convert(tags: Sequence[str], to: Literal["bio", "iobes"]) -> list[str]:
    """Tags in IOB1, IOB2 or IOBES, well-formed or not, as well-formed tags of the same spans."""
    return tags_of(spans_of(tags, "bio"), len(tags), to)


@dataclass(frozen=True)
class Transitions:
    """What a scheme allows: `pairs[a, b]` tag b after tag a [C, C], `start` first tags [C], `end` last tags [C]."""

    pairs: npt.NDArray[np.bool_]
    start: npt.NDArray[np.bool_]
    end: npt.NDArray[np.bool_]


def allowed_transitions(tags: Sequence[str], scheme: Scheme) -> Transitions:
    """Which tag may follow which, for an inventory in its order."""
    count = len(tags)
    if scheme == "plain":
        return Transitions(np.ones((count, count), bool), np.ones(count, bool), np.ones(count, bool))
    prefix, kind = (np.array(column, dtype=object) for column in zip(*map(_part, tags), strict=True))
    opens = np.isin(prefix, ["B", "S", "O"])
    inside = np.isin(prefix, ["B", "I"])  # a span is open after these
    continues = inside[:, None] & ~opens[None, :] & (kind[:, None] == kind[None, :])
    may_close = ~inside if scheme == "iobes" else np.ones(count, bool)
    return Transitions(continues | (may_close[:, None] & opens[None, :]), opens, may_close)


def _part(tag: str | None) -> tuple[str, str]:
    """Prefix and type; a tag that spells nothing is outside, and so is no tag."""
    return (OUTSIDE, "") if tag is None or tag == OUTSIDE else split_tag(tag) or (OUTSIDE, "")
