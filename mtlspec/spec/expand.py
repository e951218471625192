"""From a spec's model groups to the single trainings: task sets x sweep values x seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from mtlspec.io.digest import canonical_json, digest_value
from mtlspec.spec.families import SharingOptions, TaskSetOptions
from mtlspec.spec.models import ExperimentSpec, ModelGroup, Start, Take, TrainOptions
from mtlspec.spec.selected import SelectedTaskSet
from mtlspec.spec.slugs import DIGEST, cut, setting_slug

Setting = tuple[str, Any]


@dataclass(frozen=True)
class Choice:
    """How the tasks of a model are decided while the study runs."""

    name: str  # of the decision, which all seeds share
    options: SelectedTaskSet
    candidates: tuple[str, ...]  # every task that the model may come to learn
    reads: tuple[str, ...]  # names of the variants whose evaluations it rests on


@dataclass(frozen=True)
class ModelVariant:
    """One model to train."""

    group: str
    tasks: tuple[str, ...]  # those that are known before anything has run
    sharing: SharingOptions
    train: TrainOptions
    seed: int
    sweep: tuple[Setting, ...]  # dotted key below the group -> the value that this variant takes
    name: str  # unique in the spec; small letters, digits, `_` and `-`
    start: str | None = None  # name of the variant whose weights training starts from
    take: Take = "all"  # what training takes over from it
    choice: Choice | None = None
    teachers: tuple[tuple[str, str], ...] = ()  # task -> name of the variant that it learns from

    @property
    def candidates(self) -> tuple[str, ...]:
        """Every task that the model may come to learn."""
        return self.tasks if self.choice is None else self.choice.candidates


def expand(spec: ExperimentSpec) -> tuple[ModelVariant, ...]:
    """Every training, ordered by group, task set, sweep values and seed, as the spec writes them."""
    names = tuple(spec.tasks)
    variants: list[ModelVariant] = []
    above: dict[str, list[ModelVariant]] = {}
    for group_name, group in spec.models.items():
        settings = sweep_settings(spec.sweep, group.sweep)
        slugs = _setting_slugs(settings)
        start, own = group.starts_from, []
        for label, tasks in group.task_set.sets(names):
            own_settings = said_of(group, tasks)
            for slug, setting in zip(slugs, settings, strict=True):
                varied = vary(group, (*own_settings, *setting))
                choice = _choice(group.task_set, [group_name, label, *slug], tasks, setting, names, above)
                for seed in group.seeds_among(spec.seeds):
                    name = cut("-".join([group_name, label, *slug, f"s{seed}"]))
                    first = start_variant(start, tasks, seed, setting, above[start.group]) if start else None
                    take = start.take if start else "all"
                    about = (group_name, tasks, varied.sharing, varied.train, seed, setting, name)
                    taught = teachers_of(varied.train, tasks, seed, setting, above)
                    own.append(ModelVariant(*about, first.name if first else None, take, choice, taught))
        above[group_name] = own
        variants += own
    return tuple(variants)


def start_variant(
    start: Start, tasks: Sequence[str], seed: int, setting: Iterable[Setting], among: Iterable[ModelVariant]
) -> ModelVariant | None:
    """The model of a group to start from: tasks and seed as wanted, and the same values of what both groups sweep."""
    wanted = seed if start.seed == "same" else start.seed
    found = [variant for variant in among if variant.seed == wanted and _agree(variant.sweep, setting)]
    sets = {variant.tasks for variant in found}
    chosen = start_tasks(start, tasks, sets)
    return next((variant for variant in found if variant.tasks == chosen), None)


def start_tasks(start: Start, tasks: Sequence[str], sets: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Which task set of the group that is started from, if it has the one that is meant."""
    known = list(sets)
    if start.tasks is not None:
        return next((names for names in known if set(names) == set(start.tasks or ())), None)
    if tuple(tasks) in known:
        return tuple(tasks)
    return known[0] if start.take != "all" and len(known) == 1 else None


def teachers_of(
    train: TrainOptions,
    tasks: Sequence[str],
    seed: int,
    setting: Iterable[Setting],
    above: Mapping[str, Sequence[ModelVariant]],
) -> tuple[tuple[str, str], ...]:
    """Task -> name of the model that teaches it: one of the same tasks, or else of this task alone."""
    distil = train.distil
    if distil is None:
        return ()
    wanted = seed if distil.seed == "same" else distil.seed
    found = [one for one in above.get(distil.teacher, ()) if one.seed == wanted and _agree(one.sweep, setting)]
    of_tasks = {one.tasks: one.name for one in found}
    teachers = {task: teaching_set(task, tasks, of_tasks) for task in tasks}
    return tuple((task, of_tasks[names]) for task, names in teachers.items() if names is not None)


def teaching_set(task: str, tasks: Sequence[str], sets: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
    """Which task set of a teaching group a task learns from, if it has any."""
    known = list(sets)
    whole = next((names for names in known if set(names) == set(tasks)), None)
    return whole or next((names for names in known if names == (task,)), None)


def _choice(
    options: TaskSetOptions,
    parts: Sequence[str],
    known: tuple[str, ...],
    setting: Iterable[Setting],
    tasks: tuple[str, ...],
    above: Mapping[str, Sequence[ModelVariant]],
) -> Choice | None:
    """The decision behind a model whose tasks are selected, with every seed of the models that it reads."""
    if not isinstance(options, SelectedTaskSet):
        return None
    reads = [
        variant.name
        for group, wanted in options.reads(known, tasks)
        for variant in above[group]
        if set(variant.tasks) == wanted and _agree(variant.sweep, setting)
    ]
    return Choice(cut("-".join(parts)), options, options.candidates(known, tasks), tuple(reads))


def _agree(theirs: Iterable[Setting], ours: Iterable[Setting]) -> bool:
    """Whether every sweep value of another model is also ours."""
    values = {key: canonical_json(value) for key, value in ours}
    return all(values.get(key) == canonical_json(value) for key, value in theirs)


def count(spec: ExperimentSpec) -> int:
    """The number of trainings, without making them."""
    total = 0
    for group in spec.models.values():
        values = prod(len(values) for values in (spec.sweep | group.sweep).values())
        total += group.task_set.count(tuple(spec.tasks)) * values * len(group.seeds_among(spec.seeds))
    return total


def possible_sets(group: ModelGroup, tasks: Sequence[str]) -> list[tuple[str, ...]]:
    """The largest task sets that the models of a group may learn."""
    options, sets = group.task_set, group.task_set.sets(tasks)
    if isinstance(options, SelectedTaskSet):
        return [options.candidates(known, tasks) for _, known in sets]
    return [names for _, names in sets]


def sweep_settings(spec: Mapping[str, Sequence[Any]], group: Mapping[str, Sequence[Any]]) -> list[tuple[Setting, ...]]:
    """Every combination of sweep values, the last key fastest; a group's key replaces the same key of the spec."""
    keys = dict(spec) | dict(group)
    return [tuple(zip(keys, values, strict=True)) for values in product(*keys.values())]


def said_of(group: ModelGroup, tasks: Sequence[str]) -> tuple[Setting, ...]:
    """What `by_tasks` says of the models of some tasks."""
    return next((said.settings for key, said in group.by_tasks.items() if set(key.split("-")) == set(tasks)), ())


def vary(group: ModelGroup, settings: Iterable[Setting]) -> ModelGroup:
    """The group with some values set, validated again."""
    chosen = tuple(settings)
    return ModelGroup.model_validate(varied_raw(group, chosen)) if chosen else group


def varied_raw(group: ModelGroup, settings: Iterable[Setting]) -> dict[str, Any]:
    """The group's data with some values put in, not validated; KeyError if a key leads through a value without keys."""
    raw = group.model_dump()
    for key, value in settings:
        _put(raw, key.split("."), value)
    return raw


def _put(raw: dict[str, Any], path: Sequence[str], value: Any) -> None:
    inner = raw
    for part in path[:-1]:
        if inner.get(part) is None:
            inner[part] = {}
        inner = inner[part]
        if not isinstance(inner, dict):
            raise KeyError(part)
    inner[path[-1]] = value


def _setting_slugs(settings: Sequence[tuple[Setting, ...]]) -> list[list[str]]:
    """Readable parts of a name for each combination; a digest is added where two would read the same."""
    slugs = [[setting_slug(key, value) for key, value in setting] for setting in settings]
    seen = Counter(map(tuple, slugs))
    return [
        [*slug, digest_value(list(setting))[:DIGEST]] if seen[tuple(slug)] > 1 else slug
        for slug, setting in zip(slugs, settings, strict=True)
    ]
