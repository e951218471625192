"""Checks of `train.distil`: a teacher for every task and seed, something to learn from it, and layers to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.cards import EncoderCard
from mtlspec.spec.check_sharing import sound_tasks
from mtlspec.spec.check_start import check_swept, groups_above
from mtlspec.spec.expand import teaching_set, vary
from mtlspec.spec.models import ExperimentSpec, ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.selected import SelectedTaskSet
from mtlspec.spec.train_parts import Distil
from mtlspec.spec.words import shorten

_KEY = "train.distil"


def check_distil(node: Node, encoder: EncoderCard | None, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own."""
    said = [item.value for item in node.items("seeds") if isinstance(item.value, int)]
    seeds = said or list(ExperimentSpec.model_fields["seeds"].default)
    tasks, swept = tuple(node.children("tasks")), tuple(node.children("sweep"))
    for name, plain in groups.items():
        for group, place in distilled(node, name, plain):
            yield from _check(name, group, groups, place, seeds, tasks, swept)
            yield from _check_losses(name, group, node, place)
            yield from _check_layers(group, encoder, place)


def distilled(node: Node, name: str, group: ModelGroup) -> Iterator[tuple[ModelGroup, Node]]:
    """A group that learns from a teacher, once for each value of a sweep over how, and where that is said."""
    model = node.near(("models", name))
    sweep = {**node.children("sweep"), **model.children("sweep")}
    keys = [key for key in sweep if f"{key}.".startswith(f"{_KEY}.")]
    if not keys and group.train.distil is not None:
        yield group, model.near(("train", "distil"))
    for key, item in [(one, value) for one in keys for value in sweep[one].items()]:
        try:
            varied = vary(group, [(key, item.plain())])
        except (KeyError, ValidationError):  # told of elsewhere
            continue
        if varied.train.distil is not None:
            yield varied, item


def _check(
    name: str,
    group: ModelGroup,
    groups: Mapping[str, ModelGroup],
    place: Node,
    seeds: Sequence[int],
    tasks: Sequence[str],
    swept: Sequence[str],
) -> Iterator[SpecError]:
    """Whether there is a teacher for every task and seed."""
    distil, above = group.train.distil, groups_above(name, groups)
    assert distil is not None
    if distil.teacher not in above:
        message = f"there is no model group '{shorten(distil.teacher)}' above '{name}' to learn from"
        yield SpecError("E876", message, place.near(("teacher",)).place, did_you_mean(distil.teacher, above))
        return
    source = groups[distil.teacher]
    yield from _check_teachers(name, group, source, distil, place, tasks)
    question = f"which of its models teaches '{name}'?"
    yield from check_swept("E876", question, distil.teacher, source, group, swept, place.near(("teacher",)))
    yield from _check_seeds(name, group, source, distil, place, seeds)


def _check_teachers(
    name: str, group: ModelGroup, source: ModelGroup, distil: Distil, place: Node, tasks: Sequence[str]
) -> Iterator[SpecError]:
    said = place.near(("teacher",)).place
    for one, each in ((name, group), (distil.teacher, source)):
        if isinstance(each.task_set, SelectedTaskSet):
            message = f"the tasks of '{one}' are chosen while the study runs, so nobody knows who teaches whom"
            yield SpecError("E876", message, said, "name the tasks")
            return
    known = [names for _, names in source.task_set.sets(tasks)]
    for _, names in group.task_set.sets(tasks):
        for task in names:
            if teaching_set(task, names, known) is None:
                whole = f" of {' + '.join(names)}" if len(names) > 1 else ""
                message = f"'{distil.teacher}' has no model{whole or f' of {task}'} for '{name}' to learn from"
                hint = f"it needs one of the same tasks, or one of '{task}' alone"
                yield SpecError("E876", message, said, hint)
                return


def _check_seeds(
    name: str, group: ModelGroup, source: ModelGroup, distil: Distil, place: Node, shared: Sequence[int]
) -> Iterator[SpecError]:
    there = source.seeds_among(shared)
    wanted = group.seeds_among(shared) if distil.seed == "same" else (distil.seed,)
    lacking = [seed for seed in wanted if seed not in there]
    if lacking:
        message = f"no model of '{distil.teacher}' has the seed {lacking[0]} to teach '{name}'"
        hint = f"its seeds: {', '.join(map(str, there[:6]))}"
        yield SpecError("E876", message, place.near(("seed",)).place, hint)


def _check_losses(name: str, group: ModelGroup, node: Node, place: Node) -> Iterator[SpecError]:
    distil = group.train.distil
    assert distil is not None
    if not (distil.looks_inside or distil.prediction or distil.labels):
        yield SpecError("E888", f"all weights of `distil` are 0, so model '{name}' would learn nothing", place.place)
    elif not (distil.prediction or distil.labels) and group.train.keep == "best":
        message = (
            f"decoders of model '{name}' learn nothing from its teacher, and `keep: best` goes by their dev scores"
        )
        yield SpecError("E888", message, place.place, "write `keep: last`, or weights for `prediction` or `labels`")
    tasks = sound_tasks(node)
    learnt = {task for _, names in group.task_set.sets(tuple(tasks)) for task in names}
    unable = [task for task, options in tasks.items() if task in learnt and not options.distils]
    if distil.prediction and unable:
        kind = tasks[unable[0]].type
        message = f"a task of type '{kind}' ('{unable[0]}') learns no predictions of a teacher"
        yield SpecError("E877", message, place.place, "write `prediction: 0`, and `labels: 1` beside the other losses")
    if distil.looks_inside and group.train.freeze is not None:
        message = f"model '{name}' cannot learn layers of a teacher while some of its own are frozen"
        yield SpecError("E889", message, place.place, "leave `freeze` out, or the weights of layers and attention")


def _check_layers(group: ModelGroup, encoder: EncoderCard | None, place: Node) -> Iterator[SpecError]:
    layers = group.train.distil.layers if group.train.distil is not None else None
    if layers is None:
        return
    said = place.near(("layers",)).place
    if not layers or list(layers) != sorted(set(layers)):
        yield SpecError("E884", "`layers` must name layers in ascending order, each once", said)
        return
    count = encoder.source.layer_count() if encoder is not None else None
    if count is not None and max(layers) > count:
        yield SpecError("E885", f"`layers` names layer {max(layers)}, and the encoder has {count}", said)
