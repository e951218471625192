"""Hyper-parameters of every model: what differs between models side by side, what they have in common once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtlspec.results.tables import Cell, Table
from mtlspec.results.variants import Variant
from mtlspec.spec.expand import said_of, vary
from mtlspec.spec.models import ModelGroup

Flat = dict[str, str]
"""Key as in a spec (`train.lr.encoder`) -> value as it is shown."""

_NONE = "none"
_SILENT = ("train.checkpoint_every",)  # no result depends on it


def hyperparameter_tables(spec: Mapping[str, Any], models: Sequence[Variant]) -> tuple[Table, ...]:
    """The table of what differs, if anything does, and that of what is the same in all models."""
    columns = _columns(spec, models)
    keys = list(dict.fromkeys(key for values in columns.values() for key in values))
    differing = [key for key in keys if len({values.get(key) for values in columns.values()}) > 1]
    constant = {key: next(iter(columns.values()))[key] for key in keys if key not in differing}
    said_once = {**constant, **_named("encoder", spec["encoder"])}
    for task, options in spec["tasks"].items():
        said_once |= _named(f"tasks.{task}", options)
    tables = [_differing_table(differing, columns)] if differing else []
    return (*tables, _constant_table(said_once, several=len(columns) > 1))


def _columns(spec: Mapping[str, Any], models: Sequence[Variant]) -> dict[str, Flat]:
    """A column for every group, or for every part of it that has settings of its own."""
    made: dict[str, Flat] = {}
    for group in dict.fromkeys(variant.group for variant in models):
        own = [variant for variant in models if variant.group == group]
        parts: list[tuple[Flat, list[Variant]]] = []
        for variant in own:
            values = _settings(spec["models"][group], variant)
            part = next((members for known, members in parts if known == values), None)
            if part is None:
                parts.append((values, [variant]))
            else:
                part.append(variant)
        for values, members in parts:
            made[group if len(parts) == 1 else _title(group, members, own)] = values
    return made


def _title(group: str, members: Sequence[Variant], own: Sequence[Variant]) -> str:
    """`stl: pos, ner` for models of some tasks; a point of a sweep by its values alone where it has all tasks."""
    points = list(dict.fromkeys(variant.point for variant in members))
    everywhere = len({variant.tasks for variant in members}) == len({variant.tasks for variant in own})
    if len(points) == 1 and points[0] and everywhere:
        return f"{group}{points[0]}"
    return f"{group}: {', '.join(v.label.removeprefix(f'{group}: ').replace(' + ', '+') for v in members)}"


def _settings(group: Mapping[str, Any], variant: Variant) -> Flat:
    """Sharing, start and training of one model, `by_tasks` and the sweep laid on."""
    known = {key: group[key] for key in ModelGroup.model_fields if key in group}
    plain = ModelGroup.model_validate(known)
    model = vary(plain, (*said_of(plain, variant.tasks), *variant.sweep)).model_dump(mode="json")
    start = [] if model["start"] is None else _flat("start", model["start"])
    found = dict([*_flat("sharing", model["sharing"]), *start, *_flat("train", model["train"])])
    return {key: value for key, value in found.items() if key not in _SILENT}


def _named(key: str, options: Mapping[str, Any]) -> Flat:
    """Without what an encoder or a task leaves unsaid."""
    return {name: value for name, value in _flat(key, options) if value != _NONE}


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """A kind stands under its own key, `train.sampler: power`, its options below it."""
    if not isinstance(value, Mapping):
        yield key, _shown(value)
        return
    if "type" in value:
        yield key, str(value["type"])
    for part, inner in value.items():
        if part != "type":
            yield from _flat(f"{key}.{part}", inner)


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_shown, value))
    return _NONE if value is None else str(value).lower() if isinstance(value, bool) else f"{value}"


def _differing_table(keys: Sequence[str], columns: Mapping[str, Flat]) -> Table:
    rows = tuple(
        (Cell(key, key), *(Cell(text := values.get(key, ""), text) for values in columns.values())) for key in keys
    )
    caption = (
        "Settings in which models differ, under the keys that a spec has for them; a column for each group of models,"
        " or for the models of a group that have settings of their own. Empty: there is no such setting."
    )
    title = "Hyper-parameters that differ between models"
    return Table("hyperparameters", title, caption, ("setting", *columns), (("", rows),))


def _constant_table(values: Flat, *, several: bool) -> Table:
    rows = tuple((Cell(key, key), Cell(value, value)) for key, value in values.items())
    title = "Hyper-parameters of all models" if several else "Hyper-parameters"
    caption = "Decoders belong to their task, whatever model learns it."
    return Table("hyperparameters_of_all", title, caption, ("setting", "value"), (("", rows),))
