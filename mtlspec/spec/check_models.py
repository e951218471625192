"""Checks of model groups: their tasks, whether sampler and balancing fit them, and their sweeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from pydantic import ValidationError

from mtlspec.errors import Place, SpecError
from mtlspec.io.digest import canonical_json
from mtlspec.spec.check_by_tasks import check_by_tasks
from mtlspec.spec.check_seeds import check_seeds
from mtlspec.spec.check_start import check_start
from mtlspec.spec.check_task_sets import check_choice
from mtlspec.spec.check_weights import check_weights, swept_train
from mtlspec.spec.expand import possible_sets, varied_raw, vary
from mtlspec.spec.explain import explain
from mtlspec.spec.models import ExperimentSpec, ModelGroup
from mtlspec.spec.nodes import Node, wrap
from mtlspec.spec.words import shorten

MAX_TRAININGS = 10_000


def check_models(node: Node, groups: Mapping[str, ModelGroup], tasks: Sequence[str]) -> Iterator[SpecError]:
    """Fit and sweeps of the groups that are sound on their own, and their number."""
    trainings = 0
    seen: set[tuple[Place | None, str]] = set()
    said = [item.value for item in node.items("seeds") if isinstance(item.value, int)]
    seeds = said or list(ExperimentSpec.model_fields["seeds"].default)
    shared = node.children("sweep")
    for name, group in groups.items():
        model = node.near(("models", name))
        yield from _check_fit(name, group, tasks, model)
        yield from check_start(name, groups, tasks, model, tuple(shared), tuple(node.children("models")))
        yield from check_seeds(name, groups, model, seeds)
        yield from check_choice(name, groups, tasks, model, tuple(shared), seeds)
        sweep = {**shared, **model.children("sweep")}
        yield from check_by_tasks(name, group, tasks, model, tuple(sweep))
        for key, values in sweep.items():
            for problem in _check_sweep_key(key, values, name, group, tasks):
                known = (problem.place, problem.message.replace(f"'{name}'", ""))
                if known not in seen:  # a sweep of the whole spec is wrong once, not once a group
                    seen.add(known)
                    yield problem
        settings = prod(len(values.items()) for values in sweep.values())
        trainings += group.task_set.count(tasks) * settings * len(group.seeds_among(seeds))
    if trainings > MAX_TRAININGS:
        message = f"the spec asks for {trainings} trainings, more than {MAX_TRAININGS}"
        yield SpecError("E160", message, node.near(("models",)).place, "shorten the sweeps")


def _check_fit(name: str, group: ModelGroup, tasks: Sequence[str], model: Node) -> Iterator[SpecError]:
    misnamed = any(check_weights(model.near(("train",)), tasks))
    for part, problem in _misfits(group, tasks):
        if part == "balance" and misnamed:  # the task without a weight is the one that was misspelt
            continue
        at = model.get("train", part)
        yield SpecError("E161", f"the {part} does not fit model '{name}': {problem}", (at or model).place)


def _misfits(group: ModelGroup, tasks: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`sampler` or `balance` with the first reason why it does not fit one of the group's task sets."""
    if group.task_set.count(tasks) > MAX_TRAININGS:
        return
    sets = [names for names in possible_sets(group, tasks) if names and set(names) <= set(tasks)]
    for part, options in (("sampler", group.train.sampler), ("balance", group.train.balance)):
        problem = next((text for names in sets if (text := options.problem(names)) is not None), None)
        if problem is not None:
            yield part, problem


def _check_sweep_key(key: str, values: Node, name: str, group: ModelGroup, tasks: Sequence[str]) -> Iterator[SpecError]:
    place = values.key or values.place
    if not (key.startswith("train.") or key == "sharing" or key.startswith("sharing.")) or key.endswith(".type"):
        hint = "write `train.<key>`, `sharing` or `sharing.<key>`"
        if key.endswith(".type"):
            hint = f"the kinds of '{shorten(key.removesuffix('.type'))}' are swept as a whole, without `.type`"
        yield SpecError("E162", f"'{shorten(key)}' cannot be swept", place, hint)
        return
    if values.value == []:
        yield SpecError("E163", f"the sweep over '{shorten(key)}' has no values", values.place)
    seen: dict[str, str] = {}  # what a value makes of the group -> the value as it was written
    for item in values.items():
        text, meant = canonical_json(item.plain()), _meaning(key, item.plain(), group)
        if meant in seen:
            first = seen[meant]
            same = f"{shorten(first)} and {shorten(text)} are the same here" if text != first else "leave one out"
            yield SpecError("E164", f"the sweep over '{shorten(key)}' has a value twice", item.place, same)
        seen.setdefault(meant, text)
        yield from _check_sweep_value(key, item, place, name, group, tasks)


def _meaning(key: str, value: Any, group: ModelGroup) -> str:
    """What a value of a sweep makes of a group, or the value itself if it does not fit: `1` and `1.0` may be equal."""
    try:
        return canonical_json(vary(group, [(key, value)]).model_dump())
    except (KeyError, ValidationError):
        return canonical_json(value)


def _check_sweep_value(
    key: str, item: Node, key_place: Place, name: str, group: ModelGroup, tasks: Sequence[str]
) -> Iterator[SpecError]:
    place = item.place
    try:
        raw = varied_raw(group, [(key, item.plain())])
        varied = ModelGroup.model_validate(raw)
    except KeyError as error:
        message = f"the sweep key '{shorten(key)}' does not exist in model '{name}': {error} has no keys"
        yield SpecError("E165", message, key_place)
        return
    except ValidationError as error:
        for problem in explain(error, ModelGroup, wrap(raw, place)):
            if problem.code == "E130":
                message = f"the sweep key '{shorten(key)}' does not exist in model '{name}': {problem.message}"
                yield SpecError("E166", message, key_place, problem.hint)
            else:
                message = f"a value of the sweep over '{shorten(key)}' does not fit model '{name}': {problem.message}"
                yield SpecError("E167", message, place, problem.hint)
        return
    misnamed = list(check_weights(swept_train(key, item, key_place), tasks))
    yield from misnamed
    for part, problem_text in _misfits(varied, tasks) if not misnamed else ():
        message = f"with this value of '{shorten(key)}' the {part} does not fit model '{name}': {problem_text}"
        yield SpecError("E168", message, place)
