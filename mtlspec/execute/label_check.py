"""Whether the labels that data turned out to have are such as their tasks can read, learn and name in their options."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from mtlspec.data.defects import own_folder
from mtlspec.data.label_places import unreadable_labels
from mtlspec.data.layer_kinds import layer_kind
from mtlspec.data.pins import resolve_root
from mtlspec.data.survey import Labels
from mtlspec.errors import MtlspecError
from mtlspec.execute.materialise import Materialised
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard
from mtlspec.spec.check_layers import label_error
from mtlspec.spec.corpora import only
from mtlspec.spec.families import TaskOptions
from mtlspec.spec.load import LoadedSpec
from mtlspec.spec.words import shorten

Corpus = tuple[Path, Mapping[str, Labels]]
"""The folder of a card's files, and the labels of its layers."""


class Labelled(NamedTuple):
    """A task and the labels that it learns from."""

    name: str
    options: TaskOptions
    card: DataCard
    root: Path
    labels: Labels


def problems_of_prepared(planned: Materialised) -> dict[str, MtlspecError]:
    """Task -> what is wrong; asked when all data are prepared, and nothing is trained yet."""
    return _problems(planned.project, planned.loaded, _prepared(planned))


def problems_of_files(
    project: Project, loaded: LoadedSpec, found: Mapping[str, Mapping[str, Labels]]
) -> dict[str, MtlspecError]:
    """The same before anything runs; `found` are the labels of the cards whose files were read."""
    return _problems(project, loaded, _read(project, loaded, found))


def warnings_of_prepared(planned: Materialised) -> list[str]:
    """Tasks with nothing to learn, a line each; asked when problems are."""
    return _warnings(planned.loaded, _prepared(planned))


def warnings_of_files(project: Project, loaded: LoadedSpec, found: Mapping[str, Mapping[str, Labels]]) -> list[str]:
    return _warnings(loaded, _read(project, loaded, found))


def _prepared(planned: Materialised) -> dict[str, Corpus]:
    corpora: dict[str, Corpus] = {}
    for stage in planned.plan.stages:
        path = planned.places.artifact(stage.name) / "labels.json"
        if stage.kind == "prepare" and path.is_file():  # else preparing failed, and its models are not trained
            said = json.loads(path.read_bytes())
            train, unseen = said["train"], said["unseen"]
            found = {layer: Labels(tuple(sorted(train[layer])), tuple(unseen[layer])) for layer in train}
            corpora[stage.params["card"]["name"]] = planned.places.artifact(stage.inputs["data"]), found
    return corpora


def _read(project: Project, loaded: LoadedSpec, found: Mapping[str, Mapping[str, Labels]]) -> dict[str, Corpus]:
    cards = (card for card in loaded.data.values() if card.name in found)
    return {card.name: (resolve_root(card, project), found[card.name]) for card in cards}


def _labelled(loaded: LoadedSpec, corpora: Mapping[str, Corpus]) -> Iterator[Labelled]:
    """The tasks whose labels are known."""
    for name, options in loaded.spec.tasks.items():
        corpus = options.data or only(loaded.data)
        assert corpus is not None
        card = loaded.data[corpus]
        if card.name in corpora and options.layer in corpora[card.name][1]:
            root, labels = corpora[card.name]
            yield Labelled(name, options, card, root, labels[options.layer])


def _warnings(loaded: LoadedSpec, corpora: Mapping[str, Corpus]) -> list[str]:
    """Where a word or an example has one label and nothing else, a layer with a single one says nothing."""
    return [
        f"warning: task '{task.name}' has nothing to learn: all that layer '{task.options.layer}' of "
        f"'{task.card.name}' holds in training is '{shorten(task.labels.train[0])}'"
        for task in _labelled(loaded, corpora)
        if len(task.labels.train) == 1 and _only_chooses(task.card.layer_kinds[task.options.layer])
    ]


def _only_chooses(kind: str) -> bool:
    """Answers do more: where all questions have one, it is still to be found."""
    about = layer_kind(kind)
    return (about.per_word or not about.about_words) and not about.whole_text


def _problems(project: Project, loaded: LoadedSpec, corpora: Mapping[str, Corpus]) -> dict[str, MtlspecError]:
    problems: dict[str, MtlspecError] = {}
    for name, options, card, root, labels in _labelled(loaded, corpora):
        if (unreadable := options.unreadable([*labels.train, *labels.unseen])) is not None:
            shown = own_folder(card, project)
            problems[name] = unreadable_labels(card, root, shown, options.layer, name, unreadable)
        elif (problem := options.label_problem(labels.train)) is not None:
            problems[name] = label_error(loaded.tasks[name], problem)
    return problems
