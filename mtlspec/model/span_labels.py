"""What tasks about spans ask of the tags that they read."""

from __future__ import annotations

from collections.abc import Sequence

from mtlspec.data.span_tags import strange_tags
from mtlspec.spec.families import Unreadable

_HINT = "spans are spelt in BIO or IOBES, such as `B-PER`: mend the tags, or learn the layer with `type: tagging`"


def unreadable_spans(tags: Sequence[str]) -> Unreadable | None:
    strange = strange_tags(tags)
    return Unreadable(tuple(strange), "spells no part of a span", _HINT) if strange else None
