"""Analyses that read dev scores on the way: some of their models must be asked for them (`train.evaluate_every`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar

from mtlspec.errors import SpecError
from mtlspec.spec.families import AnalysisOptions
from mtlspec.spec.nodes import Node

if TYPE_CHECKING:
    from mtlspec.spec.models import ModelGroup  # which loads all kinds, and kinds of this family import this file

KEY = "train.evaluate_every"


class Watched(AnalysisOptions):
    """An analysis of dev scores on the way; models without them are passed over."""

    asks_entropy: ClassVar[bool] = False  # True: of how unsure tasks are of dev, too


def hint(entropy: bool) -> str:
    """What to write, so that a model has what is read."""
    return f"write `{KEY}: {'{updates: 50, entropy: true}' if entropy else '50'}`"


def check_watched(
    analysis: Node, options: Watched, node: Node, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; of the others nothing is said here."""
    models = options.models or tuple(node.children("models"))
    if not models or not all(name in groups for name in models):
        return
    if not any(_may_have(groups[name], name, node, options.asks_entropy) for name in models):
        place = (analysis.child("models") or analysis).place
        what = "entropies of dev" if options.asks_entropy else "dev scores"
        message = f"no model of this analysis is asked for {what} on the way, which it shows"
        yield SpecError("E944", message, place, hint(options.asks_entropy))


def _may_have(group: ModelGroup, name: str, node: Node, entropy: bool) -> bool:
    swept = node.get("sweep", KEY) or node.get("models", name, "sweep", KEY)
    by_tasks = any("evaluate_every" in said.train for said in group.by_tasks.values())
    every = group.train.watched
    return swept is not None or by_tasks or (every is not None and (every.entropy or not entropy))
