"""Cross checks of what analyses read of the data, and of the paper pack that a spec names."""

from __future__ import annotations

from collections.abc import Iterator

from mtlspec import kinds
from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.cards import DataCard
from mtlspec.spec.families import ANALYSES, AnalysisOptions
from mtlspec.spec.nodes import Node
from mtlspec.spec.packs import pack_names
from mtlspec.spec.words import shorten


def check_pack(node: Node) -> Iterator[SpecError]:
    said = node.child("compare_to")
    if said is not None and isinstance(said.value, str) and said.value not in pack_names():
        message = f"there is no paper pack '{shorten(said.value)}'"
        yield SpecError("E170", message, said.place, did_you_mean(said.value, pack_names()))


def check_read_layers(analysis: Node, card: DataCard | None) -> Iterator[SpecError]:
    """Options of an analysis that name layers of the data: there must be one, and each must exist and fit."""
    kind = analysis.child("type")
    if kind is None or kind.value not in kinds.names(ANALYSES):
        return
    options = kinds.options_class(ANALYSES, str(kind.value))
    if not issubclass(options, AnalysisOptions) or not options.layer_kinds:
        return
    named = {name: said for name in options.layer_kinds if (said := analysis.child(name)) is not None}
    if not any(said.value is not None for said in named.values()):
        message = f"the analysis of type '{kind.value}' names no layer to read"
        yield SpecError("E172", message, analysis.place, f"set one of: {', '.join(options.layer_kinds)}")
    for name, said in named.items():
        if card is None or not isinstance(said.value, str):
            continue
        found, wanted = card.layer_kinds.get(said.value), options.layer_kinds[name]
        fitting = sorted(layer for layer, kind_ in card.layer_kinds.items() if kind_ == wanted)
        if said.value not in card.layer_kinds:
            message = f"the data card '{card.name}' has no layer '{shorten(said.value)}'"
            yield SpecError("E173", message, said.place, did_you_mean(said.value, fitting or card.layer_kinds))
        elif found != wanted:
            message = f"'{name}' reads a layer of kind '{wanted}'; '{said.value}' is of kind '{found}'"
            yield SpecError("E174", message, said.place, f"layers that fit: {', '.join(fitting)}" if fitting else None)
