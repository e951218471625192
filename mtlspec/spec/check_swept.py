"""Checks of analyses of a sweep: some of their models of several tasks must be swept over the setting, by numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.expand import possible_sets
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.swept import Swept
from mtlspec.spec.words import shorten


def check_swept(analysis: Node, options: Swept, node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; of the others nothing is said here."""
    models = options.models or tuple(node.children("models"))
    if not models or not all(name in groups for name in models):
        return
    over, tasks = analysis.near(("over",)), tuple(node.children("tasks"))
    several = [name for name in models if any(len(names) > 1 for names in possible_sets(groups[name], tasks))]
    swept = [sweeps(node, name) for name in several]
    curves = [values[options.over] for values in swept if options.over in values]
    if not curves:
        known = sorted({key for values in swept for key in values})
        hint = did_you_mean(options.over, known)
        message = f"no model group of several tasks in this analysis is swept over '{shorten(options.over)}'"
        yield SpecError("E993", message, over.place, hint or f"name a group with `sweep: {{{options.over}: [...]}}`")
    odd = (item.value for values in curves for item in values.items() if not _is_number(item.value))
    for value in odd:
        what = f"'{shorten(str(value))}'" if isinstance(value, str) else _written(value)
        message = f"'{options.over}' is swept over {what}, and a curve goes over numbers"
        yield SpecError("E991", message, over.place, "name groups that are swept over numbers in `models`")
        return


def sweeps(node: Node, name: str) -> dict[str, Node]:
    """What a group is swept over; its own key replaces the same key of the spec."""
    return {**node.children("sweep"), **node.near(("models", name)).children("sweep")}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else "what is no single value"
