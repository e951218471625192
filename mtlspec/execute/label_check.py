"""Whether the labels that data turned out to have are such as their tasks can read and their options name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mtlspec.data.defects import own_folder
from mtlspec.data.label_places import unreadable_labels
from mtlspec.data.pins import resolve_root
from mtlspec.data.survey import Labels
from mtlspec.errors import MtlspecError
from mtlspec.execute.materialise import Materialised
from mtlspec.io.project import Project
from mtlspec.spec.check_layers import label_error
from mtlspec.spec.corpora import only
from mtlspec.spec.load import LoadedSpec

Corpus = tuple[Path, Mapping[str, Labels]]
"""The folder of a card's files, and the labels of its layers."""


def problems_of_prepared(planned: Materialised) -> dict[str, MtlspecError]:
    """Task -> what is wrong; asked when all data are prepared, and nothing is trained yet."""
    corpora: dict[str, Corpus] = {}
    for stage in planned.plan.stages:
        path = planned.places.artifact(stage.name) / "labels.json"
        if stage.kind == "prepare" and path.is_file():  # else preparing failed, and its models are not trained
            said = json.loads(path.read_bytes())
            train, unseen = said["train"], said["unseen"]
            found = {layer: Labels(tuple(sorted(train[layer])), tuple(unseen[layer])) for layer in train}
            corpora[stage.params["card"]["name"]] = planned.places.artifact(stage.inputs["data"]), found
    return _problems(planned.project, planned.loaded, corpora)


def problems_of_files(
    project: Project, loaded: LoadedSpec, found: Mapping[str, Mapping[str, Labels]]
) -> dict[str, MtlspecError]:
    """The same before anything runs; `found` are the labels of the cards whose files were read."""
    cards = (card for card in loaded.data.values() if card.name in found)
    return _problems(project, loaded, {card.name: (resolve_root(card, project), found[card.name]) for card in cards})


def _problems(project: Project, loaded: LoadedSpec, corpora: Mapping[str, Corpus]) -> dict[str, MtlspecError]:
    problems: dict[str, MtlspecError] = {}
    for name, options in loaded.spec.tasks.items():
        corpus = options.data or only(loaded.data)
        assert corpus is not None
        card = loaded.data[corpus]
        if card.name not in corpora or options.layer not in corpora[card.name][1]:
            continue
        root, labels = corpora[card.name][0], corpora[card.name][1][options.layer]
        if (unreadable := options.unreadable([*labels.train, *labels.unseen])) is not None:
            shown = own_folder(card, project)
            problems[name] = unreadable_labels(card, root, shown, options.layer, name, unreadable)
        elif (problem := options.label_problem(labels.train)) is not None:
            problems[name] = label_error(loaded.tasks[name], problem)
    return problems
