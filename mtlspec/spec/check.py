"""Cross checks: what each part of a spec says about the others.

They read the raw tree, so that a spec with a wrong key elsewhere is told of these problems at once, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mtlspec.errors import SpecError
from mtlspec.spec.cards import EncoderCard
from mtlspec.spec.check_analyses import check_analyses
from mtlspec.spec.check_batching import check_batching
from mtlspec.spec.check_corpora import Cards, check_corpora
from mtlspec.spec.check_dev import check_dev
from mtlspec.spec.check_distil import check_distil
from mtlspec.spec.check_draw import check_draw
from mtlspec.spec.check_freeze import check_freeze
from mtlspec.spec.check_heads import check_heads
from mtlspec.spec.check_keep import check_keep
from mtlspec.spec.check_models import check_models
from mtlspec.spec.check_published import check_pack
from mtlspec.spec.check_sampler import check_sampler
from mtlspec.spec.check_sharing import check_sharing
from mtlspec.spec.check_task_sets import check_task_set
from mtlspec.spec.check_weights import check_weights
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node


def check_spec(
    node: Node, cards: Cards, encoder: EncoderCard | None, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """Every problem between the parts of a spec; `groups` are the model groups that are sound on their own."""
    tasks = node.children("tasks")
    yield from check_corpora(node, cards, encoder)
    models = node.children("models")
    yield from check_weights(node.near(("train",)), tuple(tasks))
    for model in models.values():
        yield from check_task_set(model, tuple(tasks))
        yield from check_weights(model.near(("train",)), tuple(tasks))
    yield from check_models(node, groups, tuple(tasks))
    yield from check_sharing(node, groups)
    yield from check_freeze(node, encoder, groups)
    yield from check_distil(node, encoder, groups)
    yield from check_batching(node, groups)
    yield from check_dev(node, groups)
    yield from check_draw(node, groups)
    yield from check_sampler(node, groups)
    yield from check_analyses(node, groups)
    yield from check_heads(node, groups)
    yield from check_keep(node, groups)
    yield from check_pack(node)
    yield from _check_seeds(node)
    yield from _check_precision(node)


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
