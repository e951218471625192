"""Checks of analyses that read the heads that tasks have chosen: some of their models must let tasks choose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import SpecError
from mtlspec.spec.check_sharing import sharings
from mtlspec.spec.demands import Demanding
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node


def check_task_heads(
    analysis: Node, options: Demanding, node: Node, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; of the others nothing is said here."""
    models = options.models or tuple(node.children("models"))
    if not options.needs_task_heads or not all(name in groups for name in models):
        return
    found = (shared.options for name in models for shared in sharings(node, name, groups[name]))
    if not any(strategy.heads_by_task for strategy in found):
        place = (analysis.child("models") or analysis).place
        message = "in no model group of this analysis do tasks choose heads"
        yield SpecError("E945", message, place, "add one with `sharing: iat`")
