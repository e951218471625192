"""Checks of analyses of task embeddings: some of their models must have them, or begin with different ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import SpecError
from mtlspec.spec.check_sharing import sharings
from mtlspec.spec.check_swept import sweeps
from mtlspec.spec.expand import possible_sets
from mtlspec.spec.families import AnalysisOptions
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node

_EMBEDDING = "sharing.embedding"
_WITHOUT = frozenset(("adapters", "hard", "iat", "l0", "pals"))  # of a project's own strategies nothing is known


def check_embeddings(
    analysis: Node, options: AnalysisOptions, node: Node, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; of the others nothing is said here."""
    models = options.models or tuple(node.children("models"))
    if not models or not all(name in groups for name in models):
        return
    place, tasks = (analysis.child("models") or analysis).place, tuple(node.children("tasks"))
    sizes = {name: {len(names) for names in possible_sets(groups[name], tasks)} for name in models}
    if options.type == "task_embedding_map":
        several = [name for name in models if max(sizes[name], default=0) > 1]
        if several and all(_has_none(node, name, groups[name]) for name in several):
            hint = "name a group with `sharing: ca_mtl` or `task_embedding`"
            yield SpecError("E994", "no model of several tasks in this analysis has embeddings of them", place, hint)
        return
    if options.type == "embedding_transfer" and not any(
        1 in sizes[name] and _EMBEDDING in sweeps(node, name) for name in models
    ):
        message = f"no model group of one task in this analysis is swept over '{_EMBEDDING}'"
        hint = f"name a group with `start: {{..., take: shared}}` and `sweep: {{{_EMBEDDING}: [...]}}`"
        yield SpecError("E998", message, place, hint)


def _has_none(node: Node, name: str, group: ModelGroup) -> bool:
    return all(shared.options.type in _WITHOUT for shared in sharings(node, name, group))
