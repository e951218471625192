"""The check of the paper pack that a spec names."""

from __future__ import annotations

from collections.abc import Iterator

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.nodes import Node
from mtlspec.spec.packs import pack_names
from mtlspec.spec.words import shorten


def check_pack(node: Node) -> Iterator[SpecError]:
    said = node.child("compare_to")
    if said is not None and isinstance(said.value, str) and said.value not in pack_names():
        message = f"there is no paper pack '{shorten(said.value)}'"
        yield SpecError("E170", message, said.place, did_you_mean(said.value, pack_names()))
