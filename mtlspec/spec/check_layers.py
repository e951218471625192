"""Checks of what tasks and analyses read of a corpus: the layer must be there and of a kind that fits."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from mtlspec import kinds
from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.cards import DataCard
from mtlspec.spec.demands import OneCorpus
from mtlspec.spec.families import ANALYSES, TASKS, AnalysisOptions, LabelProblem, LayerKind, TaskOptions
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import either, shorten


def check_task_layer(task: Node, card: DataCard | None) -> Iterator[SpecError]:
    layer = task.child("layer")
    if card is None or layer is None or not isinstance(layer.value, str):
        return
    layers = [name for group in card.files for name in group.layers]
    if layer.value not in layers:
        message = f"the data card '{card.name}' has no layer '{shorten(layer.value)}'"
        yield SpecError("E150", message, layer.place, did_you_mean(layer.value, layers))
        return
    kind = task.child("type")
    found = card.layer_kinds.get(layer.value)
    if kind is None or found is None or kind.value not in kinds.names(TASKS):
        return
    options = kinds.options_class(TASKS, str(kind.value))
    if issubclass(options, TaskOptions) and options.reads and found not in options.reads:
        wanted = either([f"'{name}'" for name in sorted(options.reads)])
        message = f"a task of type '{kind.value}' reads layers of kind {wanted}; '{layer.value}' is of kind '{found}'"
        fitting = sorted(name for name, kind_ in card.layer_kinds.items() if kind_ in options.reads)
        yield SpecError("E151", message, layer.place, f"layers that fit: {', '.join(fitting)}" if fitting else None)
        return
    labels = card.known_labels(layer.value)
    try:
        problem = kinds.parse(TASKS, TaskOptions, task.plain()).label_problem(labels) if labels is not None else None
    except ValidationError:  # told of elsewhere
        return
    if problem is not None:
        yield label_error(task, problem)


def label_error(task: Node, problem: LabelProblem) -> SpecError:
    """Asked before anything runs where a card names all labels, else as soon as the data are prepared."""
    return SpecError("E811", problem.message, task.near((problem.option,)).place, problem.hint)


def reads_one_corpus(analysis: Node) -> bool:
    options = _options(analysis)
    return options is not None and issubclass(options, OneCorpus)


def layers_named(analysis: Node) -> dict[str, LayerKind] | None:
    """Layer -> the kind that it must have, of the layers that an analysis names; None if its type reads none."""
    options = _options(analysis)
    if options is None or not options.layer_kinds:
        return None
    said = {name: analysis.child(name) for name in options.layer_kinds}
    return {
        node.value: options.layer_kinds[name]
        for name, node in said.items()
        if node is not None and isinstance(node.value, str)
    }


def check_analysis_layers(analysis: Node, card: DataCard | None) -> Iterator[SpecError]:
    """Options of an analysis that name layers: there must be one, and each must exist and fit."""
    options = _options(analysis)
    assert options is not None
    named = {name: said for name in options.layer_kinds if (said := analysis.child(name)) is not None}
    if not any(said.value is not None for said in named.values()):
        message = f"the analysis of type '{analysis.near(('type',)).value}' names no layer to read"
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


def _options(analysis: Node) -> type[AnalysisOptions] | None:
    kind = analysis.child("type")
    if kind is None or kind.value not in kinds.names(ANALYSES):
        return None
    options = kinds.options_class(ANALYSES, str(kind.value))
    return options if issubclass(options, AnalysisOptions) else None
