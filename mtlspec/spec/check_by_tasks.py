"""Checks of `by_tasks`: whom it speaks of, and what it may set."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pydantic import ValidationError

from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.expand import Setting, varied_raw
from mtlspec.spec.explain import explain
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node, wrap
from mtlspec.spec.words import shorten

_OF_THE_GROUP = ("train.batching", "train.sampler", "train.balance", "train.freeze", "sharing.type", "sharing.mode")
"""What is checked for a group as a whole: models that differ in it are no models of one group."""


def check_by_tasks(
    name: str, group: ModelGroup, tasks: Sequence[str], model: Node, swept: Collection[str]
) -> Iterator[SpecError]:
    """`swept` are the keys that the models of the group are swept over."""
    known = [frozenset(names) for _, names in group.task_set.sets(tasks)] if group.by_tasks else []
    seen: dict[frozenset[str], str] = {}
    for key, said in group.by_tasks.items():
        meant = frozenset(key.split("-"))
        entry = model.near(("by_tasks", key))
        at = entry.key or entry.place
        if meant not in known:
            message = f"no model of group '{name}' has the tasks '{shorten(key)}'"
            spelt = ["-".join(task for task in tasks if task in names) for names in known]
            yield SpecError("E865", message, at, did_you_mean(key, spelt))
        elif meant in seen:
            yield SpecError("E866", f"'{seen[meant]}' and '{key}' are the same tasks", at, "leave one out")
        seen.setdefault(meant, key)
        for setting in said.settings:
            yield from _check_setting(setting, name, group, entry, swept)


def _check_setting(
    setting: Setting, name: str, group: ModelGroup, entry: Node, swept: Collection[str]
) -> Iterator[SpecError]:
    key, _ = setting
    said = entry.near(key.split("."))
    at = said.key or said.place
    if any(key == whole or key.startswith(f"{whole}.") for whole in _OF_THE_GROUP):
        hint = "make a group of its own for these models"
        yield SpecError("E867", f"'{shorten(key)}' is the same for all models of a group", at, hint)
        return
    if any(key == other or key.startswith(f"{other}.") or other.startswith(f"{key}.") for other in swept):
        message = f"'{shorten(key)}' is set by tasks and swept over as well in model '{name}'"
        yield SpecError("E868", message, at, "leave one of them out")
        return
    try:
        raw = varied_raw(group, [setting])
        ModelGroup.model_validate(raw)
    except KeyError as error:
        yield SpecError("E869", f"'{shorten(key)}' does not fit model '{name}': {error} has no keys", at)
    except ValidationError as error:
        for problem in explain(error, ModelGroup, wrap(raw, said.place)):
            message = f"'{shorten(key)}' does not fit model '{name}': {problem.message}"
            yield SpecError("E869", message, said.place, problem.hint)
