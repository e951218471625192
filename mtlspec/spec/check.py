"""Cross checks: what each part of a spec says about the others.

They read the raw tree, so that a spec with a wrong key elsewhere is told of these problems at once, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec import kinds
from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.cards import DataCard
from mtlspec.spec.check_analyses import check_analyses
from mtlspec.spec.check_batching import check_batching
from mtlspec.spec.check_models import check_models
from mtlspec.spec.check_published import check_pack, check_read_layers
from mtlspec.spec.check_task_sets import check_task_set
from mtlspec.spec.check_weights import check_weights
from mtlspec.spec.families import TASKS, TaskOptions
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import either, shorten


def check_spec(node: Node, card: DataCard | None, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """Every problem between the parts of a spec; `groups` are the model groups that are sound on their own."""
    tasks = node.children("tasks")
    for task in tasks.values():
        yield from _check_task(task, card)
    models = node.children("models")
    yield from check_weights(node.near(("train",)), tuple(tasks))
    for model in models.values():
        yield from check_task_set(model, tuple(tasks))
        yield from check_weights(model.near(("train",)), tuple(tasks))
    yield from check_models(node, groups, tuple(tasks))
    yield from check_batching(node, groups)
    yield from check_analyses(node, groups)
    for analysis in node.children("analyses").values() if models else ():
        yield from check_read_layers(analysis, card)
    yield from check_pack(node)
    yield from _check_seeds(node)
    yield from _check_precision(node)


def _check_task(task: Node, card: DataCard | None) -> Iterator[SpecError]:
    layer = task.child("layer")
    if card is None or layer is None or not isinstance(layer.value, str):
        return
    layers = [name for group in card.files for name in group.layers]
    if layer.value not in layers:
        message = f"the data card '{card.name}' has no layer '{shorten(layer.value)}'"
        yield SpecError("E150", message, layer.place, did_you_mean(layer.value, layers))
        return
    kind = task.child("type")
    found = card.layer_kinds.get(layer.value)
    if kind is None or found is None or kind.value not in kinds.names(TASKS):
        return
    options = kinds.options_class(TASKS, str(kind.value))
    if issubclass(options, TaskOptions) and options.reads and found not in options.reads:
        wanted = either([f"'{name}'" for name in sorted(options.reads)])
        message = f"a task of type '{kind.value}' reads layers of kind {wanted}; '{layer.value}' is of kind '{found}'"
        fitting = sorted(name for name, kind_ in card.layer_kinds.items() if kind_ in options.reads)
        yield SpecError("E151", message, layer.place, f"layers that fit: {', '.join(fitting)}" if fitting else None)


def _check_seeds(node: Node) -> Iterator[SpecError]:
    seen = set()
    for item in node.items("seeds"):
        if isinstance(item.value, int) and item.value in seen:
            yield SpecError("E154", f"the seed {item.value} stands twice", item.place)
        seen.add(item.value if isinstance(item.value, int) else None)


def _check_precision(node: Node) -> Iterator[SpecError]:
    precision, device = node.get("run", "precision"), node.get("run", "device")
    on_cpu = device is None or device.value == "cpu"
    if precision is not None and precision.value in ("bf16", "fp16") and on_cpu:
        message = f"mixed precision ('{precision.value}') needs a GPU, and the device is 'cpu'"
        yield SpecError("E155", message, precision.place, "use `precision: fp32` or another `device`")
