"""Checks of `keep: gates`: where nothing gates or chooses heads, there is nothing to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import SpecError
from mtlspec.spec.check_sharing import sharings
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node


def check_keep(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own."""
    for name, group in groups.items():
        strategies = [found.options for found in sharings(node, name, group)] if group.keep == "gates" else []
        if strategies and not any(options.gates_heads or options.heads_by_task for options in strategies):
            message = f"the models of group '{name}' have neither gates nor sets of heads to keep"
            place = node.near(("models", name, "keep")).place
            yield SpecError("E899", message, place, "`keep: scores` keeps none of their weights")
