"""From a spec's model groups to the single trainings: task sets x sweep values x seeds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

from mtlspec.io.digest import canonical_json, digest_value
from mtlspec.spec.families import SharingOptions
from mtlspec.spec.models import ExperimentSpec, ModelGroup, TrainOptions

MAX_NAME = 80
_DIGEST = 8

Setting = tuple[str, Any]


@dataclass(frozen=True)
class ModelVariant:
    """One model to train."""

    group: str
    tasks: tuple[str, ...]
    sharing: SharingOptions
    train: TrainOptions
    seed: int
    sweep: tuple[Setting, ...]  # dotted key below the group -> the value that this variant takes
    name: str  # unique in the spec; small letters, digits, `_` and `-`
    start: str | None = None  # name of the variant whose weights training starts from


def expand(spec: ExperimentSpec) -> tuple[ModelVariant, ...]:
    """Every training, ordered by group, task set, sweep values and seed, as the spec writes them."""
    variants: list[ModelVariant] = []
    for group_name, group in spec.models.items():
        settings = [(setting, vary(group, setting)) for setting in sweep_settings(spec.sweep, group.sweep)]
        slugs = _setting_slugs([setting for setting, _ in settings])
        for label, tasks in task_sets(group.tasks, tuple(spec.tasks)):
            for slug, (setting, varied) in zip(slugs, settings, strict=True):
                for seed in spec.seeds:
                    name = _cut("-".join([group_name, label, *slug, f"s{seed}"]))
                    start = _start(varied.start, tasks, seed, setting, variants)
                    variants.append(
                        ModelVariant(group_name, tasks, varied.sharing, varied.train, seed, setting, name, start)
                    )
    return tuple(variants)


def _start(
    group: str | None, tasks: Sequence[str], seed: int, setting: Iterable[Setting], among: Iterable[ModelVariant]
) -> str | None:
    """The model of a group to start from: same tasks, same seed, and the same values of what both groups sweep."""
    if group is None:
        return None
    values = {key: canonical_json(value) for key, value in setting}
    same = [
        variant.name
        for variant in among
        if (variant.group, variant.tasks, variant.seed) == (group, tuple(tasks), seed)
        and all(values.get(key) == canonical_json(value) for key, value in variant.sweep)
    ]
    return same[0] if same else None


def count(spec: ExperimentSpec) -> int:
    """The number of trainings, without making them."""
    total = 0
    for group in spec.models.values():
        values = prod(len(values) for values in (spec.sweep | group.sweep).values())
        total += len(task_sets(group.tasks, tuple(spec.tasks))) * values * len(spec.seeds)
    return total


def task_sets(wanted: str | Sequence[str], tasks: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The sets of tasks that a group trains, each with its label in names."""
    if wanted == "each":
        return [(task, (task,)) for task in tasks]
    if wanted == "pairs":
        return [("-".join(pair), pair) for pair in combinations(tasks, 2)]
    if wanted == "all":
        return [("all", tuple(tasks))]
    if wanted == "all_but_one":
        return [(f"but-{left_out}", tuple(task for task in tasks if task != left_out)) for left_out in tasks]
    return [("-".join(wanted), tuple(wanted))]


def sweep_settings(spec: Mapping[str, Sequence[Any]], group: Mapping[str, Sequence[Any]]) -> list[tuple[Setting, ...]]:
    """Every combination of sweep values, the last key fastest; a group's key replaces the same key of the spec."""
    keys = dict(spec) | dict(group)
    return [tuple(zip(keys, values, strict=True)) for values in product(*keys.values())]


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
    slugs = [[f"{_short_key(key)}_{_slug(value)}" for key, value in setting] for setting in settings]
    seen = Counter(map(tuple, slugs))
    return [
        [*slug, digest_value(list(setting))[:_DIGEST]] if seen[tuple(slug)] > 1 else slug
        for slug, setting in zip(slugs, settings, strict=True)
    ]


def _short_key(key: str) -> str:
    """`train.lr.encoder` -> `lr_encoder`: what remains without `train` or `sharing`."""
    parts = key.split(".")
    return _slug("_".join(parts[1:] or parts))


def _slug(value: Any) -> str:
    text = value if isinstance(value, str) else canonical_json(value)
    return re.sub(r"[^a-z0-9_-]+", "_", text.lower()).strip("_") or "_"


def _cut(name: str) -> str:
    """A long name keeps its beginning and gets a digest of the whole."""
    return name if len(name) <= MAX_NAME else f"{name[: MAX_NAME - _DIGEST - 1]}-{digest_value(name)[:_DIGEST]}"
