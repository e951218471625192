"""Checks of `train.draw: balanced`: there must be a number of examples to draw, and classes to draw them from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import Place, SpecError
from mtlspec.spec.check_sharing import sound_tasks
from mtlspec.spec.expand import possible_sets
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node

_DRAW, _EXAMPLES, _BATCHING = "train.draw", "train.examples", "train.batching"


def check_draw(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """`groups` are the model groups that are sound on their own; what is said for all models is wrong once."""
    tasks = sound_tasks(node)
    told: set[Place] = set()
    for name, group in groups.items():
        model = node.near(("models", name))
        said = _swept(node, name, _DRAW) or model.near(("train", "draw"))
        if "balanced" not in _values(node, name, _DRAW, group.train.draw) or said.place in told:
            continue
        for code, message, hint in _problems(node, name, group):
            told.add(said.place)
            yield SpecError(code, message, said.place, hint)
        learnt = {task for names in possible_sets(group, tuple(tasks)) for task in names}
        odd = [task for task, options in tasks.items() if task in learnt and not options.has_classes]
        if odd:
            told.add(said.place)
            message = f"model '{name}' cannot draw evenly from the classes of '{odd[0]}': its examples have none"
            yield SpecError("E871", message, said.place, "tasks about whole examples have: classification, regression")


def _problems(node: Node, name: str, group: ModelGroup) -> Iterator[tuple[str, str, str]]:
    by_tasks = any("examples" in said.train for said in group.by_tasks.values())
    if not by_tasks and _values(node, name, _EXAMPLES, group.train.examples) == [None]:
        message = f"`draw: balanced` of model '{name}' draws nothing: it trains on all examples"
        yield "E872", message, "say how many with `train.examples`, or sweep over it"
    if "joint" in _values(node, name, _BATCHING, group.train.batching):
        message = (
            f"`draw: balanced` does not go with the joint batches of model '{name}', which train all tasks at once"
        )
        yield "E873", message, "write `batching: sampled`"


def _swept(node: Node, name: str, key: str) -> Node | None:
    return node.get("models", name, "sweep", key) or node.get("sweep", key)


def _values(node: Node, name: str, key: str, own: object) -> list[object]:
    """What the models of a group have: one value, or those of a sweep."""
    swept = _swept(node, name, key)
    return [own] if swept is None else [item.value for item in swept.items()]
