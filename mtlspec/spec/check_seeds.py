"""Checks of the seeds of a group: each once, and each with a model to start from, where the group has a start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mtlspec.errors import SpecError
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node


def check_seeds(name: str, groups: Mapping[str, ModelGroup], model: Node, shared: Sequence[int]) -> Iterator[SpecError]:
    """`shared` are the seeds of the spec, which groups have that name none."""
    seen: set[int] = set()
    for item in model.items("seeds"):
        if isinstance(item.value, int) and item.value in seen:
            yield SpecError("E874", f"the seed {item.value} of model '{name}' stands twice", item.place)
        seen |= {item.value} if isinstance(item.value, int) else set()
    start = groups[name].starts_from
    if start is None or start.group not in groups:
        return
    source = groups[start.group]
    there = source.seeds_among(shared)
    known = f"the seeds of {'the spec' if source.seeds is None else repr(start.group)}: {_listed(there)}"
    place = model.near(("start", "seed")).place
    if start.seed != "same":
        if start.seed not in there:
            message = f"no model of '{start.group}' has the seed {start.seed} to start from"
            yield SpecError("E187", message, place, known)
        return
    lacking = [seed for seed in groups[name].seeds_among(shared) if seed not in there]
    if lacking:
        message = f"'{name}' has a model of seed {lacking[0]}, and '{start.group}' none for it to start from"
        hint = f"say which one all start from, such as `start: {{group: {start.group}, seed: {there[0]}}}`; {known}"
        yield SpecError("E875", message, place, hint)


def _listed(seeds: Sequence[int]) -> str:
    shown = ", ".join(map(str, seeds[:6]))
    return shown if len(seeds) <= 6 else f"{shown} ..."
