"""Schemes of span tags: checked tag by tag, and turned into one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mtlspec.data.blocks import Block
from mtlspec.errors import DataError

Scheme = Literal["iob1", "iob2", "iobes"]
_PREFIXES: dict[Scheme, set[str]] = {"iob1": {"I", "B"}, "iob2": {"I", "B"}, "iobes": {"I", "B", "E", "S"}}
_TO_IOB2 = {"S": "B", "E": "I"}
_UNKNOWN = "?"  # the prefix of a word without a tag
_LAST = {"B": "S", "I": "E"}  # the prefix of a span's last word


def checked(
    tags: Sequence[str | None],
    scheme: Scheme,
    convert: Literal["iob2", "iobes"] | None,
    block: Block,
    lines: Sequence[int],
    defects: list[DataError],
) -> tuple[str | None, ...]:
    """Span tags that follow their scheme, as `convert` wants them; `lines` are the block's lines they stand on.

    Tags that do not are added to `defects`, each on its own: what follows one is read as if it were right.
    None is a word without a tag: what stands beside it may belong to any span, so nothing is asked of it.
    """
    found = _check(tags, scheme, block, lines, defects)
    if convert == "iobes" and scheme != "iobes":
        return _iobes(found)
    return tuple(map(_iob2, found)) if convert == "iob2" else tuple(found)


def _check(
    tags: Sequence[str | None], scheme: Scheme, block: Block, lines: Sequence[int], defects: list[DataError]
) -> list[str | None]:
    """IOB1 becomes IOB2: only so does every span start with a tag of its own."""
    read: list[str | None] = []
    before, label_before = "O", ""
    for tag, at in zip(tags, lines, strict=True):
        if tag is None:
            read.append(None)
            before, label_before = _UNKNOWN, ""
            continue
        prefix, dash, label = tag.partition("-")
        if tag != "O" and not (dash and label and prefix in _PREFIXES[scheme]):
            defects.append(DataError("E244", f"'{tag}' is not an {scheme.upper()} tag", block.place(at)))
            before, label_before = _UNKNOWN, ""
            continue
        inside = (before in "IB" and label == label_before) or before == _UNKNOWN
        if scheme == "iob1":
            tag = f"B-{label}" if prefix == "I" and not inside else tag  # noqa: PLW2901
        elif prefix in "IE" and not inside:
            defects.append(DataError("E245", f"'{tag}' continues no {label} span", block.place(at)))
            prefix = _UNKNOWN if scheme == "iobes" else prefix  # whether its span has an end is not asked, too
        elif scheme == "iobes" and prefix in "OBS" and before in "IB":
            defects.append(DataError("E246", f"'{tag}' leaves a {label_before} span without its end", block.place(at)))
        read.append(tag)
        before, label_before = prefix, label
    if scheme == "iobes" and before in "IB":
        defects.append(DataError("E247", f"the {label_before} span is not ended", block.place(lines[-1])))
    return read


def _iob2(tag: str | None) -> str | None:
    return None if tag is None else _TO_IOB2.get(tag[0], tag[0]) + tag[1:]


def _iobes(tags: Sequence[str | None]) -> tuple[str | None, ...]:
    """IOB2 tags with the last word of every span marked."""
    after = [*tags[1:], "O"]
    return tuple(
        _LAST[tag[0]] + tag[1:] if tag not in (None, "O") and not (follow or "").startswith("I-") else tag
        for tag, follow in zip(tags, after, strict=True)
    )
